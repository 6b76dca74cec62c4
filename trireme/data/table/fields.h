// What fields of a table are taken for: numbers, or names of classes and categories.
//
// Threads: pure.
// Failure: InvalidInput for a column that is not there, with the nearest name; Corrupt, with file,
//          line and offset, for a field that is no finite number.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/data/table/table.h"

namespace trireme::data::table {

using RowNumbers = std::vector<std::int64_t>;

std::int64_t index_of(const Table& table, const std::string& column);

// Blanks around it do not matter. Nothing where it is no finite number.
std::optional<float> number_of(std::string_view text);
// `remedy` is what the message says to do where it is none.
float number_in(const Table& table, std::int64_t row, std::int64_t column, const char* remedy = "");

// The different texts of a column in these rows, in order; numbers by their value.
std::vector<std::string> names_in(const Table& table, const RowNumbers& rows, std::int64_t column);

}  // namespace trireme::data::table
