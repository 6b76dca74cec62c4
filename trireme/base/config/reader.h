// Reads a configuration against a schema: first given settings, then files, then overrides. Later
// sources take precedence.
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

// A setting that neither the user's files nor overrides state: a description of a model, for
// example. A setting without a source of any kind has the default of the schema.
struct GivenSetting {
  std::string key;
  Value value;
  std::string origin;  // shown in messages: "/models/config.json"
};

struct Sources {
  // GCC warns about designated initializers that omit a member without a default initializer.
  std::vector<ConfigText> files = {};  // NOLINT(readability-redundant-member-init)
  // "dotted.key=value", see trireme/base/config/override.h.
  std::vector<std::string> overrides = {};  // NOLINT(readability-redundant-member-init)
  std::vector<GivenSetting> given = {};     // NOLINT(readability-redundant-member-init)
  // Keys, or sections with a final dot. If there are any, everything else is passed over: a few
  // settings can determine how the others have to be read.
  std::vector<std::string> only = {};  // NOLINT(readability-redundant-member-init)
};

Config read_config(const Schema& schema, const Sources& sources);

}  // namespace trireme::config
