#include "trireme/data/preprocessing.h"

#include <array>
#include <nlohmann/json.hpp>

#include "trireme/base/error.h"
#include "trireme/data/preprocessing_record.h"
#include "trireme/data/tokenizer/files.h"

namespace trireme::data {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::pair<const char*, at::ScalarType>, 10> kTypes = {
    {{"float32", at::kFloat},
     {"float64", at::kDouble},
     {"float16", at::kHalf},
     {"bfloat16", at::kBFloat16},
     {"int64", at::kLong},
     {"int32", at::kInt},
     {"int16", at::kShort},
     {"int8", at::kChar},
     {"uint8", at::kByte},
     {"bool", at::kBool}}};

Json json_of(at::ScalarType type) {
  for (const auto& [name, known] : kTypes) {
    if (known == type) return name;
  }
  throw Error(ErrorCode::Unsupported,
              std::string("samples of type ") + c10::toString(type) + " cannot be saved");
}

at::ScalarType type_in(const Json& json) {
  for (const auto& [name, type] : kTypes) {
    if (json == name) return type;
  }
  throw Error(ErrorCode::Corrupt, "the type " + json.dump() + " is not known");
}

Json json_of(const std::vector<std::string>& texts) {
  Json all = Json::array();
  for (const std::string& text : texts) all.push_back(json_of_text<Json>(text));
  return all;
}

std::vector<std::string> texts_in(const Json& json) {
  std::vector<std::string> all;
  for (const Json& text : json) all.push_back(text_in(text));
  return all;
}

using Numbered = std::map<std::string, std::int64_t, std::less<>>;

// Names in the order of their numbers.
Json json_of(const Numbered& names) {
  std::vector<std::string> all(names.size());
  for (const auto& [name, number] : names) all.at(static_cast<std::size_t>(number)) = name;
  return json_of(all);
}

Numbered numbered_in(const Json& json) {
  Numbered all;
  for (const Json& text : json) all.emplace(text_in(text), std::ssize(all));
  return all;
}

Json json_of(const Standard& standard) {
  return {{"mean", standard.mean}, {"deviation", standard.deviation}};
}

Standard standard_in(const Json& json) {
  return {.mean = json.at("mean"), .deviation = json.at("deviation")};
}

Json json_of(const Form& form) {
  Json json{{"input_sizes", form.input_sizes},
            {"input_type", json_of(form.input_type)},
            {"target_sizes", form.target_sizes},
            {"target_type", json_of(form.target_type)},
            {"classes", form.classes}};
  // A tokenizer contains the names of its tokens.
  if (!form.tokenizer) json["class_names"] = json_of(form.class_names);
  if (form.document_end >= 0) json["document_end"] = form.document_end;
  for (const TaskForm& task : form.tasks) {
    json["tasks"].push_back({{"name", json_of_text<Json>(task.name)}, {"classes", task.classes}});
  }
  for (const Standard& standard : form.target_standards) {
    json["target_standards"].push_back(json_of(standard));
  }
  if (form.are_bad_samples_skipped) json["are_bad_samples_skipped"] = true;
  return json;
}

Form form_in(const Json& json, const std::shared_ptr<const tokenizer::Tokenizer>& tokenizer) {
  Form form{.input_sizes = json.at("input_sizes"),
            .input_type = type_in(json.at("input_type")),
            .target_sizes = json.at("target_sizes"),
            .target_type = type_in(json.at("target_type")),
            .classes = json.at("classes"),
            .document_end = json.value("document_end", std::int64_t{-1})};
  if (json.contains("class_names")) {
    form.class_names = texts_in(json.at("class_names"));
  } else if (tokenizer) {
    form.tokenizer = tokenizer;
    form.class_names = tokenizer->texts();
  }
  for (const Json& task : json.value("tasks", Json::array())) {
    form.tasks.push_back({.name = text_in(task.at("name")), .classes = task.at("classes")});
  }
  for (const Json& standard : json.value("target_standards", Json::array())) {
    form.target_standards.push_back(standard_in(standard));
  }
  form.are_bad_samples_skipped = json.value("are_bad_samples_skipped", false);
  return form;
}

Json json_of(const table::Fit& fit) {
  Json inputs = Json::array(), targets = Json::array();
  for (const table::InputColumn& column : fit.inputs.columns()) {
    Json json{{"name", json_of_text<Json>(column.name)}};
    if (column.is_category) {
      json["categories"] = json_of(column.categories);
    } else {
      json["standard"] = json_of(column.standard);
      if (column.fill) json["fill"] = *column.fill;
    }
    inputs.push_back(std::move(json));
  }
  for (const table::TargetColumn& target : fit.targets) {
    targets.push_back({{"name", json_of_text<Json>(target.name)},
                       {"classes", json_of(target.classes)},
                       {"standard", json_of(target.standard)}});
  }
  const table::Missing& missing = fit.inputs.missing();
  return {{"inputs", std::move(inputs)},
          {"targets", std::move(targets)},
          {"missing", json_of_text<Json>(missing.setting())},
          {"missing_values", json_of(missing.texts())}};
}

table::Fit fit_in(const Json& json) {
  std::vector<table::InputColumn> inputs;
  for (const Json& each : json.at("inputs")) {
    table::InputColumn column{.name = text_in(each.at("name")),
                              .is_category = each.contains("categories")};
    if (column.is_category) {
      column.categories = numbered_in(each.at("categories"));
    } else {
      column.standard = standard_in(each.at("standard"));
      if (each.contains("fill")) column.fill = each.at("fill").get<double>();
    }
    inputs.push_back(std::move(column));
  }
  table::Missing missing(text_in(json.at("missing")), texts_in(json.at("missing_values")));
  table::Fit fit{.inputs = table::InputColumns(std::move(inputs), std::move(missing))};
  for (const Json& each : json.at("targets")) {
    fit.targets.push_back({.name = text_in(each.at("name")),
                           .classes = numbered_in(each.at("classes")),
                           .standard = standard_in(each.at("standard"))});
  }
  return fit;
}

}  // namespace

std::string Preprocessing::to_json() const {
  Json json{{"source", json_of(source)}, {"form", json_of(form)}};
  if (form.tokenizer) json["tokenizer"] = tokenizer::write_tokenizer_json(*form.tokenizer);
  if (table) json["table"] = json_of(*table);
  if (!class_counts.empty()) json["class_counts"] = class_counts;
  return json.dump();
}

Preprocessing Preprocessing::from_json(std::string_view text) {
  check_record(text);
  const Json json = Json::parse(text);
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer;
  if (json.contains("tokenizer")) {
    tokenizer = std::make_shared<const tokenizer::Tokenizer>(tokenizer::read_tokenizer_json(
        json.at("tokenizer").get_ref<const std::string&>(), "the checkpoint's tokenizer"));
  }
  Preprocessing read{.source = form_in(json.at("source"), tokenizer),
                     .form = form_in(json.at("form"), tokenizer)};
  if (json.contains("table")) read.table = fit_in(json.at("table"));
  read.class_counts = json.value("class_counts", std::vector<std::int64_t>{});
  return read;
}

}  // namespace trireme::data
