// A schema as JSON, for other programs. A worker prints its schema, and the launcher reads it, so
// that the launcher can check and explain recipes and print help without starting a worker.
//
// Thread safety: pure functions; any thread may call them.
// Errors:        schema_from_json() throws Protocol for text that schema_json() did not write.

#pragma once

#include <string>
#include <string_view>

#include "trireme/base/config/schema.h"

namespace trireme::config {

std::string schema_json(const Schema& schema);

// The sections contain DescribedFields: they support reading, explaining and help, but not
// get<T>().
Schema schema_from_json(std::string_view json);

}  // namespace trireme::config
