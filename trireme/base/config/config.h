// Config is a configuration that was read and found right: a struct for every part, and for every
// setting where its value came from.
//
//   const RunConfig& run = config.get<RunConfig>("run");
//   if (const auto* gpt = config.find<GptConfig>("model")) ...
//
// Threads:  constant; any thread. Copies share the structs.
// Failure:  Misuse for a section or struct that the schema did not have.
// Lifetime: independent of the schema and of the text.

#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <typeindex>
#include <utility>
#include <vector>

#include "trireme/base/config/value.h"

namespace trireme::config {

// One setting as it stands, with everything that `explain` wants to say about it.
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

  std::string key() const { return section.empty() ? name : section + "." + name; }
  bool is_default() const { return origin == "default"; }
};

class Config {
 public:
  // The struct of that section. REQUIRES: the schema has it and, of several kinds, it is the one.
  template <class T>
  const T& get(std::string_view section) const {
    return *static_cast<const T*>(require(section, typeid(T)));
  }
  // Null where the section is of another kind.
  template <class T>
  const T* find(std::string_view section) const {
    return static_cast<const T*>(look_up(section, typeid(T)));
  }

  // The kind of a section that has kinds.
  const std::string& kind(std::string_view section) const;

  // In the schema's order; a section's `kind` first.
  const std::vector<Setting>& settings() const& noexcept { return settings_; }
  std::vector<Setting> settings() && noexcept { return std::move(settings_); }
  // By its full key; null where there is none.
  const Setting* setting(std::string_view key) const noexcept;

  // Everything, defaults too, as text that reads back as an equal configuration: equal texts mean
  // equal configurations, so that its hash identifies a job.
  std::string to_toml() const;

  // Value, origin, default, type, range and help of a setting, for people. NotFound, with the
  // nearest key, where there is none.
  std::string explain(std::string_view key) const;

 private:
  friend class Resolver;

  const void* look_up(std::string_view section, std::type_index type) const noexcept;
  const void* require(std::string_view section, std::type_index type) const;

  std::map<std::pair<std::string, std::type_index>, std::shared_ptr<const void>, std::less<>>
      parts_;
  std::vector<Setting> settings_;
};

}  // namespace trireme::config
