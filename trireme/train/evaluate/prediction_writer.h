// PredictionWriter writes predictions as CSV or JSON lines, a row per sample: every row has the
// same columns, which CSV names in its first line and JSON lines in each object.
//
// Output: standard output as the rows come, or a file. The file is written when finish() is called;
//         until then, and after an error, a file that was there before stays as it was.
// Errors: Io or Exhausted; InvalidInput where no sample at all has a prediction.
// Threads: one.

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

namespace trireme::train {

enum class PredictionFormat { Csv, JsonLines };

// By what --format calls it: csv or jsonl. InvalidInput for another name.
PredictionFormat prediction_format(const std::string& name);

struct PredictionCell {
  std::string column;
  // Numbers are written with the fewest digits that give the same float or double back. One that is
  // not finite, or nothing, is an empty field of CSV and null in JSON.
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

  // REQUIRES: the columns of the first row.
  void write(const PredictionRow& row);
  // A sample without a prediction: the columns that other rows have are empty. Rows before the
  // first prediction wait for it.
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
