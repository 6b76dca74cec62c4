// A CSV file (RFC 4180): a first line of column names, then one record per line. Fields in double
// quotes may contain the delimiter, line ends, and doubled quotes.
//
// Lines end in LF or CR LF; the last line needs no line end; empty lines are skipped; a byte order
// mark is not part of the first name.
//
// Thread safety: pure functions; any thread.
// Errors:        InvalidInput, with file, line and offset, for a record with a different number
//                of fields than columns, a quote that is not closed or is inside a field, a column
//                without a name or with a duplicate name.

#pragma once

#include <string>

#include "trireme/data/table/table.h"

namespace trireme::data::table {

// `name` is used in messages.
Table parse_csv(std::string content, std::string name, char delimiter = ',');

}  // namespace trireme::data::table
