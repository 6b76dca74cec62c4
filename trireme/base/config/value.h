// Value is what a file or an override says, before a field gives it a meaning: the types of TOML
// that settings are made of.
//
// Threads: a value.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace trireme::config {

struct Value;
using List = std::vector<Value>;

// Something of TOML's that no field takes: a date, a table inside a list.
struct Other {
  std::string type;
  friend bool operator==(const Other&, const Other&) = default;
};

struct Value {
  // std::monostate is nothing at all: an override `key=`, which takes an optional field's value
  // away.
  std::variant<std::monostate, bool, std::int64_t, double, std::string, List, Other> content;

  friend bool operator==(const Value&, const Value&) = default;
};

// "an integer", "a list", for messages.
std::string type_of(const Value& value);

// As TOML text that reads back as an equal value. REQUIRES: no Other, no nothing, no NaN.
std::string to_toml(const Value& value);

// The same for messages: anything, cut where it is long.
std::string to_brief(const Value& value);

// Like to_toml, but text without quotation marks and nothing as "not set": for tables.
std::string to_plain(const Value& value);

// Text in quotation marks, with everything escaped that is not plain UTF-8 text.
std::string quote_toml(std::string_view text);

// A key as TOML writes it: bare where it can be, else in quotation marks.
std::string key_toml(std::string_view key);

// A dotted key for messages: as it is where it is made of bare words, else in quotation marks, so
// that a strange one cannot spoil a terminal.
std::string dotted_toml(std::string_view key);

}  // namespace trireme::config
