// Checks TOML text before it is parsed: whether its size and nesting depth are small enough for an
// ordinary stack. The parser recurses for each bracket, and destroying its tables recurses too; at
// ten bytes per level, a file of one megabyte could otherwise crash the process.
//
// Thread safety: pure functions; any thread may call them.
// Errors:        none are thrown; text that is not TOML is checked up to where a parser would stop.

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace trireme::config {

struct TomlExcess {
  int line = 0;
  std::string what;
};

// The first place that exceeds the limits of trireme/base/config/toml_reader.h.
std::optional<TomlExcess> find_toml_excess(std::string_view text);

}  // namespace trireme::config
