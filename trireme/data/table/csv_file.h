// CsvFile is a CSV file in memory (RFC 4180): a first line of column names, then a record a line;
// fields in double quotes may hold the delimiter, line ends, and quotes written twice.
//
// Lines end in LF or CR LF; the last needs no end; empty lines are passed over; a byte order mark
// is not part of the first name.
//
// Threads: constant; any thread.
// Failure: Corrupt, with file, line and offset: a record with more or fewer fields than there are
//          columns, a quote that is not closed or stands within a field, a column without a name or
//          with another's.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trireme::data::table {

class CsvFile {
 public:
  // `name` is for messages.
  static CsvFile parse(std::string content, std::string name, char delimiter = ',');

  const std::string& name() const noexcept { return name_; }
  const std::vector<std::string>& columns() const noexcept { return columns_; }
  std::int64_t rows() const noexcept { return std::ssize(lines_); }
  std::string_view field(std::int64_t row, std::int64_t column) const;
  // "file.csv: line 3, byte 57", where the field begins.
  std::string place(std::int64_t row, std::int64_t column) const;

 private:
  friend class CsvParser;

  struct Cell {
    std::size_t offset = 0;
    std::size_t size = 0;
  };

  const Cell& cell(std::int64_t row, std::int64_t column) const;

  std::string name_;
  std::string content_;  // quoted fields are unquoted where they lie
  std::vector<std::string> columns_;
  std::vector<Cell> cells_;          // row by row
  std::vector<std::int64_t> lines_;  // on which each row begins, from 1
};

}  // namespace trireme::data::table
