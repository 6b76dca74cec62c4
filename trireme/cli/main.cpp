// The program `trireme`. It does not link torch, so that it starts within milliseconds.

#include <string>
#include <vector>

#include "trireme/base/machine/processor.h"
#include "trireme/cli/command_list.h"
#include "trireme/cli/commands.h"

int main(int argc, char** argv) {
  using namespace trireme::cli;
  trireme::avoid_unusable_tiles();  // also applies to the programs that it starts
  std::vector<Command> commands = all_commands();
  return run_commands(commands, std::vector<std::string>(argv + 1, argv + argc));
}
