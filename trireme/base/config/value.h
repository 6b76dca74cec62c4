// Value is a value from a file or an override before a field interprets it. It has the TOML types
// that settings use.
//
// Thread safety: a value type without shared state.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace trireme::config {

struct Value;
using List = std::vector<Value>;

// A TOML type that no field accepts: a date, or a table inside a list.
struct Other {
  std::string type;
  friend bool operator==(const Other&, const Other&) = default;
};

struct Value {
  // std::monostate is no value: an override `key=`, which unsets an optional field.
  std::variant<std::monostate, bool, std::int64_t, double, std::string, List, Other> content;

  friend bool operator==(const Value&, const Value&) = default;
};

// "an integer", "a list", for messages.
std::string type_of(const Value& value);

// TOML text that reads back as an equal value. REQUIRES: no Other, no monostate, no NaN.
std::string to_toml(const Value& value);

// For messages: accepts every value and shortens long text.
std::string to_brief(const Value& value);

// Like to_toml, but without quotation marks and with "not set" for no value; used in tables.
std::string to_plain(const Value& value);

// Text in quotation marks, with everything escaped that is not plain UTF-8 text.
std::string quote_toml(std::string_view text);

// A key in TOML syntax: bare if possible, otherwise quoted.
std::string key_toml(std::string_view key);

// A dotted key for messages: unchanged if it consists of bare words, otherwise quoted, so that
// control characters cannot affect a terminal.
std::string dotted_toml(std::string_view key);

}  // namespace trireme::config
