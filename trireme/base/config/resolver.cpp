#include "trireme/base/config/resolver.h"

#include <algorithm>

#include "trireme/base/check.h"
#include "trireme/base/config/dotted_key.h"
#include "trireme/base/config/override.h"
#include "trireme/base/config/read_value.h"
#include "trireme/base/error.h"
#include "trireme/base/text/nearest.h"

namespace trireme::config {
namespace {

std::string did_you_mean(const std::optional<std::string>& name) {
  return name ? "; did you mean " + *name + "?" : "";
}

// Empty if the kind was probably misspelled.
std::string remedy_for(const Section& section, const Value& kind) {
  const auto* const name = std::get_if<std::string>(&kind.content);
  const std::string& remedy = section.remedy_for_unknown_kinds();
  if (name == nullptr || remedy.empty() || nearest(*name, section.kinds())) return "";
  return "; " + remedy;
}

}  // namespace

Resolver::Resolver(const Schema& schema, Report& report) : schema_(schema), report_(report) {
  for (const Section& section : schema.sections()) add(section);
  check_schema();
}

void Resolver::add(const Section& section) {
  if (!section.name().empty()) tables_.insert(section.name());
  add_tables(section.name());
  const auto kinds = section.kinds();
  if (!kinds.empty()) kinds_[&section].name = kinds.front();
  for (const SectionPart& part : section.parts()) {
    structs_[&part] = part.make();
    for (const auto& field : part.fields) {
      const std::string key = section.key(field->name());
      add_tables(key);
      slots_.emplace(key, Slot{.section = &section, .part = &part, .field = field.get()});
    }
  }
}

void Resolver::add_tables(const std::string& key) {
  for (std::string& table : tables_of(key)) tables_.insert(std::move(table));
}

void Resolver::check_schema() const {
  for (const auto& [key, slot] : slots_) {
    TRIREME_CHECK(!tables_.contains(key), key, " is a setting and a section");
    for (const Section& other : schema_.sections()) {
      const bool is_nearer = other.name().size() > slot.section->name().size();
      TRIREME_CHECK(!is_nearer || !key.starts_with(other.name() + "."), key, " of [",
                    slot.section->name(), "] would be in [", other.name(), "]");
    }
  }
}

const Section* Resolver::section_of_kind(const std::string& key) const {
  for (const auto& [section, kind] : kinds_) {
    if (section->key(kKindKey) == key) return section;
  }
  return nullptr;
}

bool Resolver::has_wrong_kind(const std::string& section) const {
  return std::ranges::any_of(kinds_, [&](const auto& entry) {
    return entry.first->name() == section && entry.second.is_wrong;
  });
}

bool Resolver::is_active(const Section& section, const SectionPart& part) const {
  return part.kind.empty() || kinds_.at(&section).name == part.kind;
}

void Resolver::complain(const ConfigLocation& place, const std::string& key, std::string what) {
  report_.add({.place = place, .key = key, .what = std::move(what)});
}

void Resolver::open(const std::string& table, const ConfigLocation& place) {
  is_in_unknown_table(table + ".x", place);
}

void Resolver::resolve(const std::vector<Statement>& statements) {
  for (const Statement& statement : statements) {
    if (const Section* section = section_of_kind(statement.key)) choose_kind(*section, statement);
  }
  for (const Statement& statement : statements) {
    if (section_of_kind(statement.key) == nullptr) set(statement);
  }
  for (const Section& section : schema_.sections()) check_requirements(section);
}

void Resolver::check_requirements(const Section& section) {
  for (const SectionPart& part : section.parts()) {
    if (!is_active(section, part) || wrong_parts_.contains(&part)) continue;
    const auto spoken = spoken_of_.find(&part);
    const ConfigLocation place =
        spoken != spoken_of_.end() ? spoken->second : ConfigLocation{.name = "defaults"};
    for (const std::string& complaint : part.complaints(structs_.at(&part).get())) {
      complain(place, "[" + section.name() + "]", complaint);
    }
  }
}

void Resolver::choose_kind(const Section& section, const Statement& statement) {
  Kind& kind = kinds_.at(&section);
  const auto names = section.kinds();
  Value value = statement.value;
  if (statement.is_override) {
    value = override_value(std::get<std::string>(value.content), {.is_text = true});
  }
  try {
    kind = {.name = names[read_name(value, names)],
            .origin = statement.place.to_text(),
            .is_override = statement.is_override};
  } catch (const Error& error) {
    kind.is_wrong = true;
    complain(statement.place, statement.key, error.message() + remedy_for(section, value));
  }
}

void Resolver::set(const Statement& statement) {
  const auto [begin, end] = slots_.equal_range(statement.key);
  for (auto found = begin; found != end; ++found) {
    Slot& slot = found->second;
    if (is_active(*slot.section, *slot.part)) return set(slot, statement);
  }
  if (begin != end) {
    const Kind& kind = kinds_.at(begin->second.section);
    // The valid settings of a section are unknown if its kind is invalid.
    if (kind.is_wrong) return;
    const std::string kinds = other_kinds(statement.key);
    const std::string remedy = kind.origin == "default"
                                   ? "; set " + begin->second.section->key(kKindKey) + " = " + kinds
                                   : "";
    return complain(statement.place, statement.key,
                    "belongs to the kind " + kinds + ", and the kind here is " +
                        quote_toml(kind.name) + " (" + kind.origin + ")" + remedy);
  }
  if (tables_.contains(statement.key)) {
    return complain(statement.place, statement.key,
                    "is a section, not a setting; write [" + statement.key + "]");
  }
  if (is_in_unknown_table(statement.key, statement.place)) return;
  if (has_wrong_kind(parent_of(statement.key))) return;
  const auto known = key_with_synonym(statement.key);
  complain(statement.place, statement.key,
           "there is no such setting" +
               (known ? "; use " + *known : did_you_mean(nearest_key(statement.key))));
}

void Resolver::set(Slot& slot, const Statement& statement) {
  spoken_of_[slot.part] = statement.place;
  try {
    if (statement.is_override) {
      const auto& text = std::get<std::string>(statement.value.content);
      slot.field->set(structs_.at(slot.part).get(), override_value(text, slot.field->shape()));
    } else {
      slot.field->set(structs_.at(slot.part).get(), statement.value);
    }
    slot.origin = statement.place.to_text();
    slot.is_override = statement.is_override;
  } catch (const Error& error) {
    wrong_parts_.insert(slot.part);
    complain(statement.place, statement.key, error.message());
  }
}

std::string Resolver::other_kinds(const std::string& key) const {
  std::string all;
  const auto [begin, end] = slots_.equal_range(key);
  for (auto found = begin; found != end; ++found) {
    all += (all.empty() ? "" : " or ") + quote_toml(found->second.part->kind);
  }
  return all;
}

bool Resolver::is_in_unknown_table(const std::string& key, const ConfigLocation& place) {
  for (const std::string& table : tables_of(key)) {
    if (tables_.contains(table)) continue;
    if (!unknown_tables_.insert(table).second) return true;
    if (slots_.contains(table)) {
      complain(place, table, "is a setting, not a section");
      return true;
    }
    std::optional<std::string> meant = nearest_table(table);
    if (meant) meant = "[" + *meant + "]";
    complain(place, "[" + table + "]", "there is no such section" + did_you_mean(meant));
    return true;
  }
  return false;
}

std::optional<std::string> Resolver::nearest_table(const std::string& table) const {
  if (report_.is_full()) return std::nullopt;
  return nearest(table, std::vector<std::string>(tables_.begin(), tables_.end()));
}

// The setting that other training programs call by this name: one of the same section if there is
// one, otherwise one of another section.
std::optional<std::string> Resolver::key_with_synonym(const std::string& key) const {
  const std::string leaf = leaf_of(key);
  std::optional<std::string> elsewhere;
  for (const auto& [known, slot] : slots_) {
    if (!is_active(*slot.section, *slot.part)) continue;
    const auto& synonyms = slot.field->synonyms();
    if (std::find(synonyms.begin(), synonyms.end(), leaf) == synonyms.end()) continue;
    if (parent_of(known) == parent_of(key)) return known;
    if (!elsewhere) elsewhere = known;
  }
  return elsewhere;
}

std::optional<std::string> Resolver::nearest_key(const std::string& key) const {
  if (report_.is_full()) return std::nullopt;
  const std::string parent = parent_of(key);
  const std::string leaf = leaf_of(key);
  std::vector<std::string> beside;
  std::optional<std::string> elsewhere;
  for (const auto& [known, slot] : slots_) {
    if (!is_active(*slot.section, *slot.part)) continue;
    if (parent_of(known) == parent) beside.push_back(leaf_of(known));
    if (leaf_of(known) == leaf && !elsewhere) elsewhere = known;
  }
  for (const auto& [section, kind] : kinds_) {
    if (section->name() == parent) beside.push_back(kKindKey);
  }
  // The exact name in another section is more likely meant than a similar one in this section.
  if (elsewhere) return elsewhere;
  const auto meant = nearest(leaf, beside);
  if (!meant) return std::nullopt;
  return parent.empty() ? *meant : parent + "." + *meant;
}

Config Resolver::finish() {
  Config config;
  config.conflicts_ = schema_.conflicts();
  // Top-level settings must precede the first table, or TOML would read them as part of that table.
  if (const Section* top = schema_.find("")) add_settings(*top, config);
  for (const Section& section : schema_.sections()) {
    if (!section.name().empty()) add_settings(section, config);
  }
  return config;
}

void Resolver::add_kind(const Section& section, const Kind& kind, Config& config) {
  std::string names;
  for (const std::string& name : section.kinds()) {
    names += (names.empty() ? "" : ", ") + quote_toml(name);
  }
  config.settings_.push_back({.section = section.name(),
                              .name = kKindKey,
                              .value = {kind.name},
                              .default_value = {section.kinds().front()},
                              .origin = kind.origin,
                              .type = "one of " + names,
                              .range = "",
                              .unit = "",
                              .help = section.help(),
                              .is_override = kind.is_override});
}

void Resolver::add_settings(const Section& section, Config& config) const {
  if (const auto kind = kinds_.find(&section); kind != kinds_.end()) {
    add_kind(section, kind->second, config);
  }
  for (const SectionPart& part : section.parts()) {
    if (!is_active(section, part)) continue;
    const auto& held = structs_.at(&part);
    const auto defaults = part.make();
    config.parts_.insert({{section.name(), part.type}, held});
    for (const auto& field : part.fields) {
      const auto [begin, end] = slots_.equal_range(section.key(field->name()));
      const auto slot = std::find_if(
          begin, end, [&](const auto& entry) { return entry.second.field == field.get(); });
      config.settings_.push_back({.section = section.name(),
                                  .name = field->name(),
                                  .value = field->get(held.get()),
                                  .default_value = field->get(defaults.get()),
                                  .origin = slot->second.origin,
                                  .type = field->type(),
                                  .range = field->range(),
                                  .unit = field->unit(),
                                  .help = field->help(),
                                  .is_override = slot->second.is_override});
    }
  }
}

}  // namespace trireme::config
