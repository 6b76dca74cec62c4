// JSON lines: one object per line, whose members are the columns.
//
// Semantics:     columns are in the order in which they first appear. A member of a nested object
//                is called "outer.inner", an element of a list "outer.0"; true and false are texts.
//                A member that is null or absent in a line is an empty field. Empty lines are
//                skipped.
// Thread safety: pure functions; any thread.
// Errors:        InvalidInput, with file, line and offset, for a line that is not a JSON object or
//                is nested deeper than kDepthMax.

#pragma once

#include <string>

#include "trireme/data/table/table.h"

namespace trireme::data::table {

inline constexpr int kDepthMax = 32;

// `name` is used in messages.
Table parse_json_lines(const std::string& content, std::string name);

}  // namespace trireme::data::table
