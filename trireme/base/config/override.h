// An override is one setting on a command line: "run.ranks=4".
//
// What stands after "=" is TOML, with two freedoms that shells make welcome: text needs no
// quotation marks ("run.name=my job"), and a list no brackets ("data.paths=a,b"). Nothing at all
// takes an optional setting's value away; of text and lists that are not optional it is the empty
// one.
//
// Threads: pure.
// Failure: none here; a value that fits no field is refused by the field.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "trireme/base/config/value.h"

namespace trireme::config {

// What a field takes, as far as reading an override needs to know.
struct Shape {
  bool is_text = false;  // text, path, duration, byte size or name, or a list of such
  bool is_list = false;
};

struct Override {
  std::string key;
  std::string text;
};

// Nothing where there is no "=" or no key before it.
std::optional<Override> split_override(std::string_view argument);

Value override_value(std::string_view text, Shape shape);

}  // namespace trireme::config
