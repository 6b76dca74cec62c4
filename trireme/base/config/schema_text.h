// A schema as text for people: the output of `--help` and the content of docs/config.md. Both are
// generated from the declarations that the reader uses, so they cannot contradict it.
//
// Thread safety: pure functions; any thread may call them.

#pragma once

#include <string>

#include "trireme/base/config/schema.h"

namespace trireme::config {

//   [run] how workers are started
//     ranks = 1          worker processes to start (integer, 1 to 4096)
std::string to_help(const Schema& schema);

// A page with one table for every section and kind.
std::string to_markdown(const Schema& schema);

}  // namespace trireme::config
