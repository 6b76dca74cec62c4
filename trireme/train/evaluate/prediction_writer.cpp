#include "trireme/train/evaluate/prediction_writer.h"

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/text/json_text.h"

namespace trireme::train {
namespace {

// The shortest text that can be read back as the same number. Empty for a number that is not
// finite, and for what is no number.
std::string number_text(const decltype(PredictionCell::value)& value) {
  const auto text_of = [](const auto& one) -> std::string {
    if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(one)>>) {
      if (!std::isfinite(static_cast<double>(one))) return {};
      char text[40];
      return {text, std::to_chars(text, text + sizeof text, one).ptr};
    } else {
      return {};
    }
  };
  return std::visit(text_of, value);
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
    const auto* const text = is_header ? &cell.column : std::get_if<std::string>(&cell.value);
    line += &cell == &row.front() ? "" : ",";
    line += text != nullptr ? csv_text(*text) : number_text(cell.value);
  }
  return line + "\n";
}

std::string json_line(const PredictionRow& row) {
  std::string line;
  for (const PredictionCell& cell : row) {
    const auto* const text = std::get_if<std::string>(&cell.value);
    const std::string number = number_text(cell.value);
    line += (line.empty() ? "{" : ",") + json_text(nlohmann::json(cell.column)) + ":";
    line += text != nullptr ? json_text(nlohmann::json(*text)) : number.empty() ? "null" : number;
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
