// trireme-soak: injects faults into elastic jobs. `trireme soak` starts it.

#include <string>
#include <vector>

#include "tests/soak/command.h"
#include "trireme/cli/command_list.h"

int main(int argc, char** argv) {
  std::vector<trireme::cli::Command> commands{trireme::soak::soak_command()};
  std::vector<std::string> words{"soak"};
  words.insert(words.end(), argv + 1, argv + argc);
  return trireme::cli::run_commands(commands, words);
}
