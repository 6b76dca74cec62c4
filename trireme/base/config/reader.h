// Reading a configuration: files, then overrides, against a schema; the last to speak wins.
//
//   const Config config = read_config(schema, {.files = {load_config("job.toml")},
//                                              .overrides = {"run.ranks=4"}});
//
// Every mistake is found before any is reported, and nothing is half read: wrong syntax, a setting
// or section that does not exist, one of another kind, a wrong type, a value out of range, a key
// defined twice, a requirement between settings that does not hold.
//
// Threads: pure.
// Failure: InvalidInput, whose message is the whole report.

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "trireme/base/config/config.h"
#include "trireme/base/config/schema.h"

namespace trireme::config {

struct ConfigText {
  std::string name;  // for people: "job.toml"
  std::string text;
};

// NotFound, InvalidInput or Exhausted where the file is missing, no file or too large.
ConfigText load_config(const std::filesystem::path& path);

struct Sources {
  // GCC warns of designated initialisers that leave out a member without one of its own.
  std::vector<ConfigText> files = {};  // NOLINT(readability-redundant-member-init)
  // "dotted.key=value", see trireme/base/config/override.h.
  std::vector<std::string> overrides = {};  // NOLINT(readability-redundant-member-init)
};

Config read_config(const Schema& schema, const Sources& sources);

}  // namespace trireme::config
