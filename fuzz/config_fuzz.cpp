// Goal:   no text crashes or hangs the configuration reader or is accepted in part: the result is a
//         configuration that reads back equal, or an InvalidInput error.
// Method: the input is a file; after a line `--`, each line is one override.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "tests/base/config/sample_config.h"
#include "trireme/base/config/reader.h"
#include "trireme/base/error.h"

using trireme::config::Config;
using trireme::config::Schema;
using trireme::config::Sources;

namespace {

Sources split(std::string text) {
  Sources sources;
  const std::size_t end = text.find("\n--\n");
  std::string rest = end == std::string::npos ? "" : text.substr(end + 4);
  sources.files.push_back({"fuzz.toml", text.substr(0, end)});
  while (!rest.empty()) {
    const std::size_t line = rest.find('\n');
    sources.overrides.push_back(rest.substr(0, line));
    rest = line == std::string::npos ? "" : rest.substr(line + 1);
  }
  return sources;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Schema schema = trireme::config::sample_schema();
  const Sources sources = split(std::string(reinterpret_cast<const char*>(data), size));
  try {
    const Config config = read_config(schema, sources);
    const std::string text = config.to_toml();
    if (read_config(schema, {.files = {{"again.toml", text}}}).to_toml() != text) std::abort();
  } catch (const trireme::Error& error) {
    if (error.code() != trireme::ErrorCode::InvalidInput) std::abort();
  }
  return 0;
}
