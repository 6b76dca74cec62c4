// Parses TOML text into a flat list of entries with their line numbers.
//
// Tables become prefixes of dotted keys. The reader does not check whether a key exists in a
// schema. Syntax errors and duplicate keys go to the report, and reading continues after the line,
// so that several mistakes are found at once.
//
// Thread safety: pure functions; any thread may call them.
// Errors:        none are thrown because of the text, however long, deeply nested or malformed it
//                is; text that exceeds the limits below is one mistake in the report.

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
// Limits on nested brackets and on the dots of one key. They are far above what people write and
// far below what the stack can hold.
inline constexpr int kTomlDepthMax = 32;
inline constexpr int kTomlDotsMax = 16;

struct TomlEntry {
  std::string key;  // dotted; a component that is not a bare word is quoted
  Value value;
  int line = 0;
};

// A table with an explicit header, possibly empty.
struct TomlTable {
  std::string key;
  int line = 0;
};

// Both lists are in the order of their lines.
struct TomlDocument {
  std::vector<TomlTable> tables;
  std::vector<TomlEntry> entries;
};

// `place` identifies the source; its line is ignored.
TomlDocument read_toml(std::string_view text, const ConfigLocation& place, Report& report);

// Parses a single value, as written after `=`; returns nothing if the text is not a value.
std::optional<Value> read_toml_value(std::string_view text);

}  // namespace trireme::config
