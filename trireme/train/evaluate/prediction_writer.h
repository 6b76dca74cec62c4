// PredictionWriter writes predictions as CSV or JSON lines, a row per sample: every row has the
// same columns, which CSV names in its first line and JSON lines in each object.
//
// Output:        standard output, row by row, or a file. The file is written by finish(); until
//                then, and after an error, an existing file does not change.
// Errors:        Io or Exhausted; InvalidInput if no sample has a prediction.
// Thread safety: one thread.

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

namespace trireme::train {

enum class PredictionFormat { Csv, JsonLines };

// The format by its name in --format: csv or jsonl. Throws InvalidInput for another name.
PredictionFormat prediction_format(const std::string& name);

struct PredictionCell {
  std::string column;
  // Numbers are written with the fewest digits that are read back as the same float or double. A
  // number that is not finite, or no value, is an empty field in CSV and null in JSON.
  std::variant<std::monostate, std::string, std::int64_t, float, double> value = {};
};
using PredictionRow = std::vector<PredictionCell>;

class PredictionWriter {
 public:
  struct Options {
    PredictionFormat format = PredictionFormat::Csv;
    std::filesystem::path file = {};  // empty: standard output
  };

  explicit PredictionWriter(Options options) : options_(std::move(options)) {}

  // REQUIRES: the same columns as in the first row.
  void write(const PredictionRow& row);
  // Writes a row for a sample without a prediction, with empty columns. Rows before the first
  // prediction wait for it, because the columns are not known before.
  void write_empty(PredictionCell name);
  void finish();

  std::int64_t rows() const noexcept { return rows_; }
  std::int64_t empty_rows() const noexcept { return empty_rows_; }

 private:
  void put(const std::string& text);
  void put_row(const PredictionRow& row);
  void put_waiting();

  Options options_;
  std::string content_;            // of the file, until it is written
  std::vector<std::string> more_;  // columns after the first, once they are known
  std::vector<PredictionCell> waiting_;
  std::int64_t rows_ = 0;  // with a prediction
  std::int64_t empty_rows_ = 0;
};

}  // namespace trireme::train
