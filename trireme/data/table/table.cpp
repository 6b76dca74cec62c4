#include "trireme/data/table/table.h"

#include "trireme/base/check.h"

namespace trireme::data::table {

Table::Table(Parts parts) : parts_(std::move(parts)) {
  TRIREME_CHECK_EQ(parts_.cells.size(), parts_.lines.size() * parts_.columns.size(),
                   "cells of a table");
}

const Table::Cell& Table::cell(std::int64_t row, std::int64_t column) const {
  const std::int64_t width = std::ssize(parts_.columns);
  TRIREME_CHECK(row >= 0 && row < rows() && column >= 0 && column < width, "field ", column,
                " of row ", row, " in a table of ", rows(), " by ", width);
  return parts_.cells[static_cast<std::size_t>(row * width + column)];
}

std::string_view Table::field(std::int64_t row, std::int64_t column) const {
  const Cell& at = cell(row, column);
  return std::string_view(parts_.content).substr(at.offset, at.size);
}

std::string Table::line_of(std::int64_t row) const {
  return parts_.name + ":" + std::to_string(line(row));
}

std::string Table::place(std::int64_t row, std::int64_t column) const {
  return parts_.name + ": line " + std::to_string(parts_.lines[static_cast<std::size_t>(row)]) +
         ", byte " + std::to_string(cell(row, column).place);
}

}  // namespace trireme::data::table
