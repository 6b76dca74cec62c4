#include "trireme/cli/commands.h"
#include "trireme/cli/program.h"

namespace trireme::cli {

Command soak_command() {
  Command command("soak", "Inject faults into elastic jobs, and check that nothing was lost",
                  "trireme soak --seed 7 --faults 100");
  command.forward(
      [](const std::vector<std::string>& words) { return become_beside("trireme-soak", words); });
  return command;
}

}  // namespace trireme::cli
