// Table is a file of rows and named columns in memory, every field as its text.
//
// Threads: constant; any thread.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trireme::data::table {

class Table {
 public:
  struct Cell {
    std::size_t offset = 0;  // in the content
    std::size_t size = 0;
    std::size_t place = 0;  // in the file, for messages
  };
  struct Parts {
    std::string name;  // the file's, for messages
    std::string content;
    std::vector<std::string> columns;
    std::vector<Cell> cells;          // row by row
    std::vector<std::int64_t> lines;  // on which each row begins, from 1
  };

  // REQUIRES: a cell for each column of each row, within the content.
  explicit Table(Parts parts);

  const std::string& name() const noexcept { return parts_.name; }
  const std::vector<std::string>& columns() const noexcept { return parts_.columns; }
  std::int64_t rows() const noexcept { return std::ssize(parts_.lines); }
  std::string_view field(std::int64_t row, std::int64_t column) const;
  // "file.csv: line 3, byte 57", where the field begins.
  std::string place(std::int64_t row, std::int64_t column) const;

 private:
  const Cell& cell(std::int64_t row, std::int64_t column) const;

  Parts parts_;
};

}  // namespace trireme::data::table
