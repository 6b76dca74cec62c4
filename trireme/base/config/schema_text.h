// A schema as text for people: what `--help` prints and what docs/config.md holds. Both are made
// of the declarations that the reader obeys, so neither can disagree with it.
//
// Threads: pure.

#pragma once

#include <string>

#include "trireme/base/config/schema.h"

namespace trireme::config {

//   [run] how workers are started
//     ranks = 1          worker processes to start (integer, 1 to 4096)
std::string to_help(const Schema& schema);

// A page with a table for every section and kind.
std::string to_markdown(const Schema& schema);

}  // namespace trireme::config
