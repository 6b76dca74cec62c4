// Resolver turns what sources say into a Config: the work behind read_config. It knows every key of
// the schema, and works out what a key that it does not know was meant to be.
//
// Threads: one thread; made for one configuration and then thrown away.
// Failure: mistakes go to the report. A schema whose sections and settings collide is Misuse.

#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "trireme/base/config/config.h"
#include "trireme/base/config/report.h"
#include "trireme/base/config/schema.h"

namespace trireme::config {

// Something that a source says about a key. An override's value is its text, to be read when it is
// known which field it is for.
struct Statement {
  std::string key;
  Value value;
  bool is_override = false;
  Place place;
};

class Resolver {
 public:
  Resolver(const Schema& schema, Report& report);

  // A table that a file opens, whether or not it says anything there.
  void open(const std::string& table, const Place& place);

  // In the order of the sources, all at once: which kind a section is of decides what its other
  // keys mean, wherever it is said.
  void resolve(const std::vector<Statement>& statements);

  // Complete only where the report stayed empty.
  Config finish();

 private:
  struct Slot {
    const Section* section = nullptr;
    const Part* part = nullptr;
    const Field* field = nullptr;
    std::string origin = "default";
  };
  struct Kind {
    std::string name;
    std::string origin = "default";
    bool is_wrong = false;
  };

  void add(const Section& section);
  void add_tables(const std::string& key);
  void check_schema() const;
  const Section* section_of_kind(const std::string& key) const;
  void choose_kind(const Section& section, const Statement& statement);
  void set(const Statement& statement);
  void set(Slot& slot, const Statement& statement);
  void check_requirements(const Section& section);
  bool is_active(const Section& section, const Part& part) const;
  std::string other_kinds(const std::string& key) const;
  // Says once that a table on the way to `key` does not exist; true where one does not.
  bool is_in_unknown_table(const std::string& key, const Place& place);
  std::optional<std::string> nearest_table(const std::string& table) const;
  std::optional<std::string> nearest_key(const std::string& key) const;
  void complain(const Place& place, const std::string& key, std::string what);
  static void add_kind(const Section& section, const Kind& kind, Config& config);
  void add_settings(const Section& section, Config& config) const;

  const Schema& schema_;
  Report& report_;
  std::multimap<std::string, Slot> slots_;  // by key; one key may belong to several kinds
  std::map<const Part*, std::shared_ptr<void>> structs_;
  std::map<const Section*, Kind> kinds_;
  std::set<std::string> tables_;            // every table on the way to a key
  std::set<std::string> unknown_tables_;    // reported already
  std::map<const Part*, Place> spoken_of_;  // where a part was last set
  std::set<const Part*> wrong_parts_;
};

}  // namespace trireme::config
