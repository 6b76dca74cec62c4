#include "trireme/cli/commands.h"

#include <initializer_list>

namespace trireme::cli {

std::vector<Command> all_commands() {
  std::vector<Command> all;
  const auto add = [&](const CommandGroup& group, std::initializer_list<Command> commands) {
    for (Command command : commands) {
      command.set_group(group);
      all.push_back(std::move(command));
    }
  };
  add({.title = "Train", .example = "trireme train recipe.toml -n 2 --output runs/first"},
      {new_command(), train_command(), explain_command(), crossval_command()});
  add({.title = "Use a trained job", .example = "trireme eval runs/first --checkpoint best"},
      {eval_command(), predict_command(), generate_command(), plot_command(),
       checkpoint_command()});
  add({.title = "Running jobs", .example = "trireme watch brisk-heron"},
      {jobs_command(), watch_command(), stop_command(), scale_command(), join_command()});
  add({.title = "Run programs", .example = "trireme run -n 4 ./my_program --steps 100"},
      {run_command(), submit_command(), agent_command(), coordinate_command()});
  add({.title = "Data", .example = "trireme tokenizer train input.txt --to bpe"},
      {tokenizer_command()});
  add({.title = "Benchmarks and tests", .example = "trireme bench comm --ranks 2"},
      {bench_command(), soak_command()});
  add({.title = "This program", .example = "source <(trireme completion bash)"},
      {completion_command(), version_command()});
  return all;
}

}  // namespace trireme::cli
