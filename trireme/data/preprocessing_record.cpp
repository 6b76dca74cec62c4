#include "trireme/data/preprocessing_record.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/data/tokenizer/files.h"

namespace trireme::data {
namespace {

using Json = nlohmann::json;

constexpr std::array kTypes = {"float32", "float64", "float16", "bfloat16", "int64",
                               "int32",   "int16",   "int8",    "uint8",    "bool"};
// Values of one sample: products of sizes, bytes and samples stay far from overflow.
constexpr std::int64_t kValuesMax = std::int64_t{1} << 32;
constexpr std::int64_t kSamplesMax = std::int64_t{1} << 60;
constexpr std::int64_t kClassesMax = std::numeric_limits<std::int32_t>::max();

void expect(bool is_right, const std::string& what) {
  if (is_right) return;
  throw Error(ErrorCode::Corrupt,
              "the checkpoint's record of its data contradicts itself: " + what);
}

const Json& checked_list(const Json& json) {
  expect(json.is_array(), json.dump() + " is not a list");
  return json;
}

// An entry that may be missing.
Json list_in(const Json& json, const char* key) {
  return checked_list(json.value(key, Json::array()));
}

std::int64_t whole_in(const Json& json, std::int64_t least, std::int64_t most) {
  const bool is_whole = json.is_number_integer();
  const bool is_wrapped = json.is_number_unsigned() && json.get<std::uint64_t>() >> 63 != 0;
  const std::int64_t value = is_whole && !is_wrapped ? json.get<std::int64_t>() : -1;
  expect(is_whole && !is_wrapped && value >= least && value <= most,
         json.dump() + " is not a whole number from " + std::to_string(least) + " to " +
             std::to_string(most));
  return value;
}

void check_type(const Json& json) {
  const bool is_known =
      std::any_of(kTypes.begin(), kTypes.end(), [&](const char* type) { return json == type; });
  if (!is_known) throw Error(ErrorCode::Corrupt, "the type " + json.dump() + " is not known");
}

// Returns the number of values.
std::int64_t check_sizes(const Json& json) {
  std::int64_t count = 1;
  for (const Json& size : checked_list(json)) count *= whole_in(size, 1, kValuesMax / count);
  return count;
}

// Returns how many different texts there are.
std::int64_t check_texts(const Json& json) {
  std::set<std::string> all;
  for (const Json& text : checked_list(json)) all.insert(text_in(text));
  return std::ssize(all);
}

void check_standard(const Json& json) {
  const Json &mean = json.at("mean"), &deviation = json.at("deviation");
  expect(mean.is_number() && deviation.is_number() && deviation > 0,
         json.dump() + " is not a mean and a standard deviation");
}

void check_form(const Json& json) {
  check_sizes(json.at("input_sizes"));
  check_type(json.at("input_type"));
  const std::int64_t targets = check_sizes(json.at("target_sizes"));
  check_type(json.at("target_type"));
  const std::int64_t classes = whole_in(json.at("classes"), 0, kClassesMax);
  if (json.contains("document_end")) {
    expect(whole_in(json.at("document_end"), 0, kClassesMax) < classes,
           "document_end is not among the " + std::to_string(classes) + " classes");
  }
  if (json.contains("class_names")) {
    check_texts(json.at("class_names"));
    expect(json.at("class_names").empty() || std::cmp_equal(json.at("class_names").size(), classes),
           std::to_string(json.at("class_names").size()) + " class names of " +
               std::to_string(classes) + " classes");
  }
  expect(json.value("are_bad_samples_skipped", Json(false)).is_boolean(),
         "are_bad_samples_skipped is neither true nor false");
  const Json tasks = list_in(json, "tasks");
  for (const Json& task : tasks) {
    text_in(task.at("name"));
    whole_in(task.at("classes"), 0, kClassesMax);
  }
  const Json standards = list_in(json, "target_standards");
  for (const Json& standard : standards) check_standard(standard);
  expect(tasks.empty() || std::ssize(tasks) == targets,
         std::to_string(tasks.size()) + " tasks, and targets of " + std::to_string(targets));
  expect(standards.empty() || std::ssize(standards) == targets,
         std::to_string(standards.size()) + " standardized targets of " + std::to_string(targets));
}

// Returns how many numbers the input columns of a table give per row.
std::int64_t check_inputs(const Json& inputs) {
  std::int64_t width = 0;
  for (const Json& column : checked_list(inputs)) {
    text_in(column.at("name"));
    if (column.contains("categories")) {
      width += check_texts(column.at("categories"));
      continue;
    }
    ++width;
    check_standard(column.at("standard"));
    expect(!column.contains("fill") || column.at("fill").is_number(),
           column.dump() + " has no number for missing values");
  }
  return width;
}

// The rows of a table are float32, and have one target that is a class or several numbers.
void check_table(const Json& table, const Json& form) {
  text_in(table.at("missing"));
  check_texts(table.at("missing_values"));
  const std::int64_t width = check_inputs(table.at("inputs"));
  const Json& targets = checked_list(table.at("targets"));
  for (const Json& target : targets) {
    text_in(target.at("name"));
    check_texts(target.at("classes"));
    check_standard(target.at("standard"));
  }
  expect(form.at("input_type") == "float32" && form.at("input_sizes") == Json::array({width}),
         "the columns of the table are " + std::to_string(width) + " float32 inputs");
  expect(check_sizes(form.at("target_sizes")) == std::ssize(targets),
         "the table has " + std::to_string(targets.size()) + " target columns");
  const std::int64_t classes = form.at("classes");
  if (classes == 0) {
    return expect(form.at("target_type") == "float32", "the targets of the table are float32");
  }
  expect(form.at("target_type") == "int64" && targets.size() == 1 &&
             check_texts(targets.at(0).at("classes")) == classes,
         "the target column of the table does not have " + std::to_string(classes) +
             " classes of type int64");
}

void check(const Json& record) {
  if (record.contains("tokenizer")) {
    tokenizer::read_tokenizer_json(record.at("tokenizer").get_ref<const std::string&>(),
                                   "the checkpoint's tokenizer");
  }
  check_form(record.at("source"));
  check_form(record.at("form"));
  if (record.contains("table")) check_table(record.at("table"), record.at("source"));
  const Json counts = list_in(record, "class_counts");
  for (const Json& count : counts) whole_in(count, 0, kSamplesMax);
  const std::int64_t classes = record.at("form").at("classes");
  expect(
      counts.empty() || std::cmp_equal(counts.size(), classes),
      std::to_string(counts.size()) + " class counts of " + std::to_string(classes) + " classes");
}

}  // namespace

void check_record(std::string_view text) {
  constexpr const char* kUnreadable = "the checkpoint's record of its data cannot be read: ";
  try {
    check(Json::parse(text));
  } catch (const Json::exception& error) {
    throw Error(ErrorCode::Corrupt, std::string(kUnreadable) + error.what());
  } catch (const Error& error) {
    if (error.code() != ErrorCode::Protocol && error.code() != ErrorCode::InvalidInput) throw;
    throw Error(ErrorCode::Corrupt, kUnreadable + error.message());
  }
}

}  // namespace trireme::data
