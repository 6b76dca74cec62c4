// trireme-bench: the benchmarks, which `trireme bench` starts. It does not link torch; the ranks
// that it measures are programs of their own beside it.

#include <string>
#include <vector>

#include "bench/commands.h"
#include "trireme/cli/command_list.h"

int main(int argc, char** argv) {
  using namespace trireme;
  std::vector<cli::Command> commands = bench::all_commands();
  std::vector<std::string> words{"bench"};
  words.insert(words.end(), argv + 1, argv + argc);
  return cli::run_commands(commands, words);
}
