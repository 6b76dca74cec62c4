// A look at TOML text before it is parsed: whether it is small and shallow enough to be parsed on
// an ordinary stack. A parser recurses for each bracket, and its tables do when they are destroyed;
// ten bytes a level would otherwise let a file of a megabyte end the process.
//
// Threads: pure.
// Failure: none; text that is no TOML is looked at all the same, up to where a parser would stop.

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace trireme::config {

struct TomlExcess {
  int line = 0;
  std::string what;
};

// The first place that is past the limits of trireme/base/config/toml_reader.h.
std::optional<TomlExcess> find_toml_excess(std::string_view text);

}  // namespace trireme::config
