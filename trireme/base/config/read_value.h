// Converts a Value to one of the types that settings have. FieldType uses these functions.
//
// Thread safety: pure functions; any thread may call them.
// Errors:        InvalidInput if the value has another type; the message names the actual and the
//                expected type.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/base/config/value.h"
#include "trireme/base/text/byte_size.h"

namespace trireme::config {

bool read_bool(const Value& value);
std::int64_t read_integer(const Value& value);
// Integers are accepted. NaN is refused, because no range contains it.
double read_number(const Value& value);
float read_float(const Value& value);
// No value (an override `key=`) is read as the empty text or the empty list.
std::string read_text(const Value& value);
// Text, or a number as its text.
std::string read_text_or_number(const Value& value);
List read_list(const Value& value);
Duration read_duration(const Value& value);
// An integer is a number of bytes.
ByteSize read_byte_size(const Value& value);

// The index of the name that equals the value. The error for an unknown name suggests the nearest
// one.
std::size_t read_name(const Value& value, const std::vector<std::string>& names);

// Throws "<value> <why>".
[[noreturn]] void refuse(const Value& value, std::string_view why);

// The double whose shortest text equals that of `value`: 0.1 for 0.1f, not 0.10000000149011612.
double shortest_as_double(float value);

}  // namespace trireme::config
