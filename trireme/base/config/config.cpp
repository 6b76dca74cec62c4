#include "trireme/base/config/config.h"

#include "trireme/base/check.h"
#include "trireme/base/config/section.h"
#include "trireme/base/error.h"
#include "trireme/base/text/nearest.h"

namespace trireme::config {

const void* Config::look_up(std::string_view section, std::type_index type) const noexcept {
  for (const auto& [place, part] : parts_) {
    if (place.first == section && place.second == type) return part.get();
  }
  return nullptr;
}

const void* Config::require(std::string_view section, std::type_index type) const {
  const void* part = look_up(section, type);
  TRIREME_CHECK(part != nullptr, "[", section, "] holds no ", type.name());
  return part;
}

const std::string& Config::kind(std::string_view section) const {
  for (const Setting& setting : settings_) {
    if (setting.section == section && setting.name == kKindKey) {
      return std::get<std::string>(setting.value.content);
    }
  }
  TRIREME_CHECK(false, "[", section, "] has no kinds");
}

const Setting* Config::setting(std::string_view key) const noexcept {
  for (const Setting& setting : settings_) {
    if (setting.key() == key) return &setting;
  }
  return nullptr;
}

void Config::check_conflicts(const KeyedValues& facts) const {
  const std::string complaint = complaint_of(conflicts_, [&](std::string_view key) {
    if (const auto fact = facts.find(key); fact != facts.end()) return fact->second;
    const Setting* const known = setting(key);
    return known == nullptr ? Value{} : known->value;
  });
  if (!complaint.empty()) throw Error(ErrorCode::InvalidInput, complaint);
}

std::string Config::to_toml() const {
  std::string text;
  std::string section;
  for (const Setting& setting : settings_) {
    if (setting.section != section) {
      section = setting.section;
      text += (text.empty() ? "[" : "\n[") + section + "]\n";
    }
    // TOML has no null: an optional setting that is not set is left out.
    if (std::holds_alternative<std::monostate>(setting.value.content)) continue;
    text += setting.name + " = " + config::to_toml(setting.value) + "\n";
  }
  return text;
}

std::string Config::explain(std::string_view key) const {
  const Setting* found = setting(key);
  if (found == nullptr) {
    std::vector<std::string> keys;
    keys.reserve(settings_.size());
    for (const Setting& known : settings_) keys.push_back(known.key());
    const auto meant = nearest(key, keys);
    throw Error(ErrorCode::NotFound, "there is no setting " + std::string(key) +
                                         (meant ? "; did you mean " + *meant + "?" : ""));
  }
  const bool is_set = !std::holds_alternative<std::monostate>(found->value.content);
  std::string text =
      found->key() + (is_set ? " = " + config::to_toml(found->value) : " is not set");
  text += "\n  from:    " + found->origin;
  text += "\n  default: " + to_plain(found->default_value);
  text += "\n  type:    " + found->type;
  if (!found->range.empty()) text += ", " + found->range;
  if (!found->unit.empty()) text += ", in " + found->unit;
  if (!found->help.empty()) text += "\n  " + found->help;
  return text + "\n";
}

}  // namespace trireme::config
