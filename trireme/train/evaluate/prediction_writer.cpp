#include "trireme/train/evaluate/prediction_writer.h"

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/text/json_text.h"

namespace trireme::train {
namespace {

using Value = decltype(PredictionCell::value);

bool is_nothing(const Value& value) {
  const auto* const narrow = std::get_if<float>(&value);
  const auto* const wide = std::get_if<double>(&value);
  return std::holds_alternative<std::monostate>(value) ||
         (narrow != nullptr && !std::isfinite(*narrow)) ||
         (wide != nullptr && !std::isfinite(*wide));
}

// The shortest text that can be read back as the same number.
template <class Number>
std::string shortest(Number number) {
  char text[40];
  const auto [end, error] = std::to_chars(text, text + sizeof text, number);
  TRIREME_CHECK(error == std::errc(), "a number longer than ", sizeof text, " characters");
  return {text, end};
}

std::string number_text(const Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
  if (const auto* narrow = std::get_if<float>(&value)) return shortest(*narrow);
  return shortest(std::get<double>(value));
}

std::string csv_text(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char letter : text) {
    if (letter == '"') quoted += '"';
    quoted += letter;
  }
  return quoted + "\"";
}

std::string csv_line(const PredictionRow& row, bool is_header) {
  std::string line;
  for (const PredictionCell& cell : row) {
    if (&cell != &row.front()) line += ',';
    if (is_header) {
      line += csv_text(cell.column);
    } else if (const auto* text = std::get_if<std::string>(&cell.value)) {
      line += csv_text(*text);
    } else if (!is_nothing(cell.value)) {
      line += number_text(cell.value);
    }
  }
  return line + "\n";
}

std::string json_line(const PredictionRow& row) {
  std::string line = "{";
  for (const PredictionCell& cell : row) {
    if (&cell != &row.front()) line += ',';
    line += json_text(nlohmann::json(cell.column)) + ":";
    const auto* const text = std::get_if<std::string>(&cell.value);
    line += is_nothing(cell.value) ? "null"
            : text != nullptr      ? json_text(nlohmann::json(*text))
                                   : number_text(cell.value);
  }
  return line + "}\n";
}

}  // namespace

PredictionFormat prediction_format(const std::string& name) {
  if (name == "csv") return PredictionFormat::Csv;
  if (name == "jsonl") return PredictionFormat::JsonLines;
  throw Error(ErrorCode::InvalidInput, "--format " + name + ": use csv or jsonl");
}

void PredictionWriter::write(const PredictionRow& row) {
  if (rows_ == 0) {
    for (std::size_t i = 1; i < row.size(); ++i) more_.push_back(row[i].column);
    if (options_.format == PredictionFormat::Csv) put(csv_line(row, true));
    put_waiting();
  }
  ++rows_;
  put_row(row);
}

void PredictionWriter::write_empty(PredictionCell name) {
  ++empty_rows_;
  waiting_.push_back(std::move(name));
  if (rows_ > 0) put_waiting();
}

void PredictionWriter::put_waiting() {
  for (PredictionCell& name : std::exchange(waiting_, {})) {
    PredictionRow row{std::move(name)};
    for (const std::string& column : more_) row.push_back({column});
    put_row(row);
  }
}

void PredictionWriter::put_row(const PredictionRow& row) {
  put(options_.format == PredictionFormat::JsonLines ? json_line(row) : csv_line(row, false));
}

void PredictionWriter::put(const std::string& text) {
  if (!options_.file.empty()) {
    content_ += text;
  } else if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) {
    throw system_error("writing predictions to standard output", errno);
  }
}

void PredictionWriter::finish() {
  if (!waiting_.empty()) {
    throw Error(ErrorCode::InvalidInput, "none of the " + std::to_string(waiting_.size()) +
                                             " samples can be predicted: they are damaged, or "
                                             "have missing values");
  }
  if (!options_.file.empty()) return write_file_atomically(options_.file, content_);
  if (std::fflush(stdout) != 0) {
    throw system_error("writing predictions to standard output", errno);
  }
}

}  // namespace trireme::train
