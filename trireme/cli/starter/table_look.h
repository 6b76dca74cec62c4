// What a table looks like to `trireme new`: its columns, and which of them a model can use.
//
// Size:          at most the first 16 MiB of a file are read, up to the end of a line.
// Thread safety: pure functions.
// Errors:        InvalidInput, with file and line, for a file that is no table, for a column that
//                does not exist, and for a column whose values are neither numbers nor classes.

#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace trireme::cli::starter {

struct Column {
  std::string name;
  bool is_number = true;   // every value that is present
  bool is_whole = true;    // every number
  bool is_counter = true;  // the numbers of the rows: each value is the last one plus 1
  std::size_t different = 0;
  std::int64_t missing = 0;
};

struct TableLook {
  std::string kind;       // "csv" or "json_lines", as data.kind
  std::string delimiter;  // of csv
  std::int64_t rows = 0;
  bool is_whole = true;  // all rows were read
  std::vector<Column> columns;

  const Column& column(const std::string& name) const;
};

TableLook look_at_table(const std::filesystem::path& file);

enum class Predicted { Class, Number };

// A text is a class, a number with many different values is a number.
Predicted guess_predicted(const Column& target);

// What is predicted, and from what.
struct TablePlan {
  std::string target;
  Predicted predicted = Predicted::Class;
  std::size_t classes = 0;
  std::vector<std::string> inputs = {};
  std::vector<std::string> categories = {};  // of the inputs, those that are texts
  std::vector<std::string> left_out = {};    // "name (why)"
  std::string missing = {};                  // data.missing; empty: no value is missing
};

TablePlan plan_table(const TableLook& table, const std::string& target, Predicted predicted);

}  // namespace trireme::cli::starter
