// Reading TOML text into a flat list of what it says, with the line of everything.
//
// Tables become prefixes of dotted keys; whether a key means anything is not asked here. Mistakes
// of form (wrong syntax, a key that is defined twice) go to the report, and reading goes on after
// the line, so that several are found at once.
//
// Threads:  pure.
// Failure:  never throws for what the text says, however long, deep or broken it is; text past the
//           limits below is one mistake.

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/config/report.h"
#include "trireme/base/config/value.h"

namespace trireme::config {

inline constexpr std::size_t kTomlSizeMax = std::size_t{4} << 20;
// Of brackets within brackets, and of the dots of one key. Far past what people write, and far
// within what the stack holds.
inline constexpr int kTomlDepthMax = 32;
inline constexpr int kTomlDotsMax = 16;

struct TomlEntry {
  std::string key;  // dotted; a component that is not a plain word is in quotation marks
  Value value;
  int line = 0;
};

// A table that was written as such, also an empty one.
struct TomlTable {
  std::string key;
  int line = 0;
};

// Both in the order of their lines.
struct TomlDocument {
  std::vector<TomlTable> tables;
  std::vector<TomlEntry> entries;
};

// `place` says which source this is; its line is ignored.
TomlDocument read_toml(std::string_view text, const Place& place, Report& report);

// A value alone, as it stands after `=`; nothing where the text is none.
std::optional<Value> read_toml_value(std::string_view text);

}  // namespace trireme::config
