// JSON lines: an object a line, its members the columns.
//
// Meaning: columns come in the order in which they are first seen. A member of an object within is
//          called "outer.inner", an element of a list "outer.0"; true and false are texts like
//          others. What a line does not have, or is null, is an empty field. Empty lines are passed
//          over.
// Threads: pure.
// Failure: Corrupt, with file, line and offset, for a line that is no JSON object, or one within
//          which things lie deeper than kDepthMax.

#pragma once

#include <string>

#include "trireme/data/table/table.h"

namespace trireme::data::table {

inline constexpr int kDepthMax = 32;

// `name` is for messages.
Table parse_json_lines(const std::string& content, std::string name);

}  // namespace trireme::data::table
