// A schema as JSON, for programs: a worker prints what it can train and with which settings, and
// the program that starts workers reads it, so that it can check, explain and help without them.
//
// Threads: pure.
// Failure: reading throws Protocol for text that schema_json() did not write.

#pragma once

#include <string>
#include <string_view>

#include "trireme/base/config/schema.h"

namespace trireme::config {

std::string schema_json(const Schema& schema);

// Its sections hold DescribedFields: good for reading, explaining and help, not for get<T>().
Schema schema_from_json(std::string_view json);

}  // namespace trireme::config
