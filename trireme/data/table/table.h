// Table is a file with rows and named columns in memory. Every field is stored as text.
//
// Thread safety: immutable; any thread.

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
    std::string name;  // of the file, for messages
    std::string content;
    std::vector<std::string> columns;
    std::vector<Cell> cells;          // row by row
    std::vector<std::int64_t> lines;  // line number of each row, from 1
  };

  // REQUIRES: one cell per column and row, within the content.
  explicit Table(Parts parts);

  const std::string& name() const noexcept { return parts_.name; }
  const std::vector<std::string>& columns() const noexcept { return parts_.columns; }
  std::int64_t rows() const noexcept { return std::ssize(parts_.lines); }
  std::string_view field(std::int64_t row, std::int64_t column) const;
  // Line number of the row, from 1.
  std::int64_t line(std::int64_t row) const { return parts_.lines[static_cast<std::size_t>(row)]; }
  // "file.csv:3"
  std::string line_of(std::int64_t row) const;
  // "file.csv: line 3, byte 57": where the field begins.
  std::string place(std::int64_t row, std::int64_t column) const;

 private:
  const Cell& cell(std::int64_t row, std::int64_t column) const;

  Parts parts_;
};

}  // namespace trireme::data::table
