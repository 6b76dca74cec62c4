#include "trireme/cli/commands.h"
#include "trireme/cli/program.h"

namespace trireme::cli {

Command bench_command() {
  Command command("bench", "Measure collectives, training, codecs, checkpoints and recovery",
                  "trireme bench comm --ranks 2");
  command.forward(
      [](const std::vector<std::string>& words) { return become_beside("trireme-bench", words); });
  return command;
}

}  // namespace trireme::cli
