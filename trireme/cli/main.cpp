// The program `trireme`. It does not link torch, so that it starts within milliseconds.

#include <string>
#include <vector>

#include "trireme/base/machine/processor.h"
#include "trireme/cli/commands.h"

int main(int argc, char** argv) {
  using namespace trireme::cli;
  trireme::avoid_unusable_tiles();  // also applies to the programs that it starts
  std::vector<Command> commands;
  commands.push_back(train_command());
  commands.push_back(eval_command());
  commands.push_back(crossval_command());
  commands.push_back(generate_command());
  commands.push_back(predict_command());
  commands.push_back(explain_command());
  commands.push_back(run_command());
  commands.push_back(jobs_command());
  commands.push_back(watch_command());
  commands.push_back(stop_command());
  commands.push_back(scale_command());
  commands.push_back(join_command());
  commands.push_back(submit_command());
  commands.push_back(agent_command());
  commands.push_back(coordinate_command());
  commands.push_back(checkpoint_command());
  commands.push_back(tokenizer_command());
  commands.push_back(plot_command());
  commands.push_back(soak_command());
  commands.push_back(bench_command());
  commands.push_back(version_command());
  return run_commands(commands, std::vector<std::string>(argv + 1, argv + argc));
}
