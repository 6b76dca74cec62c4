// Reads a configuration against a schema: first files, then overrides. Later sources take
// precedence.
//
//   const Config config = read_config(schema, {.files = {load_config("job.toml")},
//                                              .overrides = {"run.ranks=4"}});
//
// All errors are collected before any is reported, and no partial configuration is returned: wrong
// syntax, an unknown setting or section, a setting of another kind, a wrong type, a value out of
// range, a key defined twice, a violated requirement between settings.
//
// Thread safety: pure functions; any thread may call them.
// Errors:        InvalidInput with the complete report as its message.

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "trireme/base/config/config.h"
#include "trireme/base/config/schema.h"

namespace trireme::config {

struct ConfigText {
  std::string name;  // shown in messages: "job.toml"
  std::string text;
};

// Throws NotFound if the file is missing, InvalidInput if it is not a regular file, and Exhausted
// if it is too large.
ConfigText load_config(const std::filesystem::path& path);

struct Sources {
  // GCC warns about designated initializers that omit a member without a default initializer.
  std::vector<ConfigText> files = {};  // NOLINT(readability-redundant-member-init)
  // "dotted.key=value", see trireme/base/config/override.h.
  std::vector<std::string> overrides = {};  // NOLINT(readability-redundant-member-init)
};

Config read_config(const Schema& schema, const Sources& sources);

}  // namespace trireme::config
