// Resolver combines the statements of all sources into a Config and implements read_config. It
// knows every key of the schema and suggests the nearest one for an unknown key.
//
// Thread safety: one thread; use a new Resolver for each configuration.
// Errors:        mistakes are added to the report. A schema whose sections and settings collide is
//                Misuse.

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

// A value that a source assigns to a key. The value of an override is its text, which is parsed
// once its field is known.
struct Statement {
  std::string key;
  Value value;
  bool is_override = false;
  ConfigLocation place;
};

class Resolver {
 public:
  Resolver(const Schema& schema, Report& report);

  // Registers a table that a file opens, even if the table is empty.
  void open(const std::string& table, const ConfigLocation& place);

  // Takes the statements of all sources in order, in a single call: the kind of a section
  // determines the meaning of its other keys and may be set by any source.
  void resolve(const std::vector<Statement>& statements);

  // The result is complete only if the report is empty.
  Config finish();

 private:
  struct Slot {
    const Section* section = nullptr;
    const SectionPart* part = nullptr;
    const Field* field = nullptr;
    std::string origin = "default";
    bool is_override = false;
  };
  struct Kind {
    std::string name;
    std::string origin = "default";
    bool is_override = false;
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
  bool has_wrong_kind(const std::string& section) const;
  bool is_active(const Section& section, const SectionPart& part) const;
  std::string other_kinds(const std::string& key) const;
  // Reports once that a table containing `key` does not exist. Returns true if one does not exist.
  bool is_in_unknown_table(const std::string& key, const ConfigLocation& place);
  std::optional<std::string> nearest_table(const std::string& table) const;
  std::optional<std::string> key_with_synonym(const std::string& key) const;
  std::optional<std::string> nearest_key(const std::string& key) const;
  void complain(const ConfigLocation& place, const std::string& key, std::string what);
  static void add_kind(const Section& section, const Kind& kind, Config& config);
  void add_settings(const Section& section, Config& config) const;

  const Schema& schema_;
  Report& report_;
  std::multimap<std::string, Slot> slots_;  // by key; one key may belong to several kinds
  std::map<const SectionPart*, std::shared_ptr<void>> structs_;
  std::map<const Section*, Kind> kinds_;
  std::set<std::string> tables_;                            // every table that contains a key
  std::set<std::string> unknown_tables_;                    // already reported
  std::map<const SectionPart*, ConfigLocation> spoken_of_;  // the place where a part was last set
  std::set<const SectionPart*> wrong_parts_;
};

}  // namespace trireme::config
