#include <cstdio>

#include "trireme/base/build_info.h"
#include "trireme/cli/commands.h"

namespace trireme::cli {
namespace {

void line(std::string_view name, std::string_view value) {
  std::printf("%-10.*s %.*s\n", static_cast<int>(name.size()), name.data(),
              static_cast<int>(value.size()), value.data());
}

int print_version() {
  const base::BuildInfo& info = base::build_info();
  line("trireme", info.version);
  line("build id", info.build_id);
  line("compiler", info.compiler);
  line("build", info.build_type);
  if (info.sanitizer != "OFF") line("sanitizer", info.sanitizer);
  line("torch", info.torch);
  for (const base::BuildPart& part : info.parts) line(part.name, part.state);
  return 0;
}

}  // namespace

Command version_command() {
  Command command("version", "Say what this build is made of", "trireme version");
  command.action(print_version);
  return command;
}

}  // namespace trireme::cli
