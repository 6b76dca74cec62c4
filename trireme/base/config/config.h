// Config is a validated configuration: one struct for every part, and the origin of every setting.
//
//   const RunConfig& run = config.get<RunConfig>("run");
//   if (const auto* gpt = config.find<GptConfig>("model")) ...
//
// Thread safety: immutable; any thread may read it. Copies share the structs.
// Errors:        Misuse for a section or struct that is not in the schema.
// Lifetime:      independent of the schema and of the text.

#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <typeindex>
#include <utility>
#include <vector>

#include "trireme/base/config/conflict.h"
#include "trireme/base/config/value.h"

namespace trireme::config {

// One setting with its value and everything that `explain` prints about it.
struct Setting {
  std::string section;
  std::string name;
  Value value;
  Value default_value;
  std::string origin;  // "default", "job.toml:12", "override 2"
  std::string type;
  std::string range;
  std::string unit;
  std::string help;
  bool is_override = false;  // set by an override, and not by a file

  std::string key() const { return section.empty() ? name : section + "." + name; }
  bool is_default() const { return origin == "default"; }
};

class Config {
 public:
  // The struct of that section. REQUIRES: the section exists and, if it has several kinds, T is the
  // struct of the selected kind.
  template <class T>
  const T& get(std::string_view section) const {
    return *static_cast<const T*>(require(section, typeid(T)));
  }
  // Null if the section has another kind.
  template <class T>
  const T* find(std::string_view section) const {
    return static_cast<const T*>(look_up(section, typeid(T)));
  }

  // The selected kind of a section that has kinds.
  const std::string& kind(std::string_view section) const;

  // In the order of the schema; the `kind` of a section comes first.
  const std::vector<Setting>& settings() const& noexcept { return settings_; }
  std::vector<Setting> settings() && noexcept { return std::move(settings_); }
  // Looks up a setting by its full key; null if there is none.
  const Setting* setting(std::string_view key) const noexcept;

  // Throws InvalidInput if the schema refuses this combination of settings. `facts` replace
  // settings of the same key.
  void check_conflicts(const KeyedValues& facts = {}) const;

  // All settings, including defaults, as TOML text that reads back as an equal configuration. Equal
  // texts mean equal configurations, so a hash of the text identifies a job.
  std::string to_toml() const;

  // A description for people: value, origin, default, type, range and help of a setting. Throws
  // NotFound, with the nearest existing key, if there is no such setting.
  std::string explain(std::string_view key) const;

 private:
  friend class Resolver;

  const void* look_up(std::string_view section, std::type_index type) const noexcept;
  const void* require(std::string_view section, std::type_index type) const;

  std::map<std::pair<std::string, std::type_index>, std::shared_ptr<const void>, std::less<>>
      parts_;
  std::vector<Setting> settings_;
  std::vector<Conflict> conflicts_;  // of the schema
};

}  // namespace trireme::config
