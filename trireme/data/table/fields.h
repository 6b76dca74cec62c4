// How fields of a table are interpreted: as numbers, or as names of classes and categories.
//
// Thread safety: pure functions; any thread.
// Errors:        InvalidInput for a column that does not exist, with the names that do, and, with
//                file and line, for a field that is not a finite number in the range of float32.

#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/data/table/table.h"

namespace trireme::data::table {

using RowNumbers = std::vector<std::int64_t>;

std::int64_t index_of(const Table& table, const std::string& column);
// Reports all columns that do not exist in one error.
void require_columns(const Table& table, const std::vector<std::string>& columns);

// Surrounding blanks are ignored. Empty if the text is not a finite number.
std::optional<double> number_of(std::string_view text);
// What to do about a field that is no number, by what the field is for.
inline constexpr const char* kInputRemedy =
    "Correct the row, name the column in data.categories if it holds names, leave it out of "
    "data.inputs, or add the text to data.missing_values if it means that there is no value.";
inline constexpr const char* kTargetRemedy =
    "Correct the row, set data.task = \"classification\" if the column holds names of classes (in "
    "a multitask, name it in data.class_targets), or add the text to data.missing_values if it "
    "means that there is no value.";
inline constexpr const char* kPredictionRemedy = "Correct the row.";
double number_in(const Table& table, std::int64_t row, std::int64_t column, const char* remedy);

// These texts in sorted order; numbers are sorted by value.
std::vector<std::string> sorted_names(const std::set<std::string_view>& texts);

}  // namespace trireme::data::table
