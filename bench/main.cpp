// trireme-bench: the benchmarks, which `trireme bench` starts. It does not link torch; the ranks
// that it measures are programs of their own beside it.

#include <string>
#include <vector>

#include "bench/commands.h"

int main(int argc, char** argv) {
  using namespace trireme;
  std::vector<cli::Command> commands;
  commands.push_back(bench::checkpoint_command());
  commands.push_back(bench::codec_command());
  commands.push_back(bench::comm_command());
  commands.push_back(bench::recovery::recovery_command());
  commands.push_back(bench::train::train_command());
  std::vector<std::string> words{"bench"};
  words.insert(words.end(), argv + 1, argv + argc);
  return cli::run_commands(commands, words);
}
