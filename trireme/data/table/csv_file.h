// A CSV file (RFC 4180): a first line of column names, then a record a line; fields in double
// quotes may hold the delimiter, line ends, and quotes written twice.
//
// Lines end in LF or CR LF; the last needs no end; empty lines are passed over; a byte order mark
// is not part of the first name.
//
// Threads: pure.
// Failure: Corrupt, with file, line and offset: a record with more or fewer fields than there are
//          columns, a quote that is not closed or stands within a field, a column without a name or
//          with another's.

#pragma once

#include <string>

#include "trireme/data/table/table.h"

namespace trireme::data::table {

// `name` is for messages.
Table parse_csv(std::string content, std::string name, char delimiter = ',');

}  // namespace trireme::data::table
