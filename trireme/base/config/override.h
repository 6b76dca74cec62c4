// An override is one setting on a command line: "run.ranks=4".
//
// The value after "=" is TOML, with two exceptions that make it easier to type in a shell: text
// needs no quotation marks ("run.name=my job"), and a list needs no brackets ("data.paths=a,b"). An
// empty value unsets an optional setting; for other text and lists it is the empty text or list.
//
// Thread safety: pure functions; any thread may call them.
// Errors:        none are thrown here; the field refuses a value that it does not accept.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "trireme/base/config/value.h"

namespace trireme::config {

// The properties of a field that matter for parsing an override.
struct Shape {
  bool is_text = false;  // text, path, duration, byte size or enum name, or a list of these
  bool is_list = false;
};

struct Override {
  std::string key;
  std::string text;
};

// Returns nothing if there is no "=", or no key before it.
std::optional<Override> split_override(std::string_view argument);

Value override_value(std::string_view text, Shape shape);

}  // namespace trireme::config
