#include "trireme/base/config/schema_json.h"

#include <memory>
#include <nlohmann/json.hpp>

#include "trireme/base/config/described_field.h"
#include "trireme/base/error.h"

namespace trireme::config {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kRemedy = "remedy_for_unknown_kinds";
constexpr const char* kValues = "values";
constexpr const char* kNot = "not";

Json json_of(const Value& value) {
  struct Visitor {
    Json operator()(std::monostate) const { return nullptr; }
    Json operator()(const List& list) const {
      Json all = Json::array();
      for (const Value& item : list) all.push_back(json_of(item));
      return all;
    }
    Json operator()(const Other& other) const { return other.type; }
    Json operator()(bool content) const { return content; }
    Json operator()(std::int64_t content) const { return content; }
    Json operator()(double content) const { return content; }
    Json operator()(const std::string& content) const { return content; }
  };
  return std::visit(Visitor{}, value.content);
}

Value value_of(const Json& json) {
  switch (json.type()) {
    case Json::value_t::null:
      return {};
    case Json::value_t::boolean:
      return {json.get<bool>()};
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
      return {json.get<std::int64_t>()};
    case Json::value_t::number_float:
      return {json.get<double>()};
    case Json::value_t::array: {
      List all;
      for (const Json& item : json) all.push_back(value_of(item));
      return {std::move(all)};
    }
    default:
      return {json.get<std::string>()};
  }
}

Json json_of(const Field& field, const void* defaults) {
  Json json{{"name", field.name()}, {"type", field.type()}, {"help", field.help()}};
  json["default"] = json_of(field.get(defaults));
  if (const std::string range = field.range(); !range.empty()) json["range"] = range;
  if (const std::string unit = field.unit(); !unit.empty()) json["unit"] = unit;
  if (const Json least = json_of(field.least()); !least.is_null()) json["least"] = least;
  if (const Json most = json_of(field.most()); !most.is_null()) json["most"] = most;
  if (const auto names = field.names(); !names.empty()) json["names"] = names;
  if (!field.synonyms().empty()) json["synonyms"] = field.synonyms();
  if (field.shape().is_text) json["is_text"] = true;
  if (field.shape().is_list) json["is_list"] = true;
  return json;
}

FieldDescription description_of(const Json& json) {
  return {
      .name = json.at("name"),
      .help = json.at("help"),
      .type = json.at("type"),
      .range = json.value("range", ""),
      .unit = json.value("unit", ""),
      .shape = {.is_text = json.value("is_text", false), .is_list = json.value("is_list", false)},
      .default_value = value_of(json.at("default")),
      .least = value_of(json.value("least", Json())),
      .most = value_of(json.value("most", Json())),
      .names = json.value("names", std::vector<std::string>{}),
      .synonyms = json.value("synonyms", std::vector<std::string>{})};
}

SectionPart part_of(const Json& json) {
  const std::string kind = json.value("kind", "");
  // A section refuses two structs of the same type unless they are alternatives, so parts with and
  // without a kind use different types.
  SectionPart part{.kind = kind,
                   .help = json.value("help", ""),
                   .type = kind.empty() ? typeid(DescribedValues) : typeid(DescribedField),
                   .fields = {},
                   .make = [] { return std::make_shared<DescribedValues>(); },
                   .complaints = [](const void*) { return std::vector<std::string>{}; }};
  for (const Json& field : json.at("fields")) {
    part.fields.push_back(std::make_shared<DescribedField>(description_of(field)));
  }
  return part;
}

Json json_of(const Conflict& conflict) {
  Json conditions = Json::array();
  for (const Condition& one : conflict.conditions) {
    conditions.push_back(
        {{"key", one.key}, {one.is_negated ? kNot : kValues, json_of(Value{one.values})}});
  }
  Json json{{"conditions", conditions}, {"why", conflict.why}};
  if (conflict.key.empty()) return json;
  json["key"] = conflict.key;
  json["alternatives"] = conflict.alternatives;
  json["remedy"] = conflict.remedy;
  return json;
}

Conflict conflict_of(const Json& json) {
  Conflict conflict{.conditions = {},
                    .why = json.at("why"),
                    .key = json.value("key", ""),
                    .alternatives = json.value("alternatives", std::vector<std::string>{}),
                    .remedy = json.value("remedy", "")};
  for (const Json& one : json.at("conditions")) {
    const bool is_negated = one.contains(kNot);
    Condition condition{.key = one.at("key"), .values = {}, .is_negated = is_negated};
    for (const Json& value : one.at(is_negated ? kNot : kValues)) {
      condition.values.push_back(value_of(value));
    }
    conflict.conditions.push_back(std::move(condition));
  }
  return conflict;
}

Schema read_schema(const Json& json) {
  Schema schema;
  for (const Json& section : json.at("sections")) {
    Section& target = schema.section(section.at("name"), section.at("help"));
    target.remedy_for_unknown_kinds(section.value(kRemedy, ""));
    // All parts of a section without a kind are merged into one, because their substitute has one
    // type.
    SectionPart common = part_of({{"fields", Json::array()}});
    std::vector<SectionPart> kinds;
    for (const Json& part : section.at("parts")) {
      SectionPart read = part_of(part);
      if (read.kind.empty()) {
        common.fields.insert(common.fields.end(), read.fields.begin(), read.fields.end());
      } else {
        kinds.push_back(std::move(read));
      }
    }
    if (!common.fields.empty()) target.add(std::move(common));
    for (SectionPart& kind : kinds) target.add(std::move(kind));
  }
  for (const Json& conflict : json.value("conflicts", Json::array())) {
    schema.refuse(conflict_of(conflict));
  }
  return schema;
}

}  // namespace

std::string schema_json(const Schema& schema) {
  Json sections = Json::array();
  for (const Section& section : schema.sections()) {
    Json parts = Json::array();
    for (const SectionPart& part : section.parts()) {
      const auto defaults = part.make();
      Json fields = Json::array();
      for (const auto& field : part.fields) fields.push_back(json_of(*field, defaults.get()));
      Json json{{"fields", fields}};
      if (!part.kind.empty()) json = {{"kind", part.kind}, {"help", part.help}, {"fields", fields}};
      parts.push_back(std::move(json));
    }
    Json described{{"name", section.name()}, {"help", section.help()}, {"parts", parts}};
    if (const auto& remedy = section.remedy_for_unknown_kinds(); !remedy.empty()) {
      described[kRemedy] = remedy;
    }
    sections.push_back(std::move(described));
  }
  Json conflicts = Json::array();
  for (const Conflict& conflict : schema.conflicts()) conflicts.push_back(json_of(conflict));
  return Json{{"version", 1}, {"sections", sections}, {"conflicts", conflicts}}.dump(1);
}

Schema schema_from_json(std::string_view json) {
  try {
    return read_schema(Json::parse(json));
  } catch (const Json::exception& error) {
    throw Error(ErrorCode::Protocol, std::string("this describes no settings: ") + error.what());
  }
}

}  // namespace trireme::config
