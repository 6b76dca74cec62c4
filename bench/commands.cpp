#include "bench/commands.h"

namespace trireme::bench {

std::vector<cli::Command> all_commands() {
  std::vector<cli::Command> commands;
  commands.push_back(checkpoint_command());
  commands.push_back(codec_command());
  commands.push_back(comm_command());
  commands.push_back(recovery::recovery_command());
  commands.push_back(train::train_command());
  return commands;
}

}  // namespace trireme::bench
