// Reading a Value as one of the types that settings have. The functions behind FieldType.
//
// Threads: pure.
// Failure: InvalidInput unless the value has that type, with what it is and what is needed.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/byte_size.h"
#include "trireme/base/clock.h"
#include "trireme/base/config/value.h"

namespace trireme::config {

bool read_bool(const Value& value);
std::int64_t read_integer(const Value& value);
// An integer will do; NaN will not, since no range contains it.
double read_number(const Value& value);
float read_float(const Value& value);
// Nothing is the empty text, and the empty list.
std::string read_text(const Value& value);
List read_list(const Value& value);
Duration read_duration(const Value& value);
// An integer counts bytes.
ByteSize read_byte_size(const Value& value);

// The index of the name that the value is; says which was probably meant where it is none.
std::size_t read_name(const Value& value, const std::vector<std::string>& names);

// Throws "<value> <why>".
[[noreturn]] void refuse(const Value& value, std::string_view why);

// The number that is written like the shortest text of `value`: 0.1 for 0.1f, and not
// 0.10000000149011612.
double shortest_as_double(float value);

}  // namespace trireme::config
