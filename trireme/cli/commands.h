// The subcommands of `trireme`, one function and one file each.

#pragma once

#include <vector>

#include "trireme/cli/command.h"

namespace trireme::cli {

// All of them, in the order of the overview and with its groups.
std::vector<Command> all_commands();

Command new_command();

Command train_command();
Command eval_command();
Command crossval_command();
Command generate_command();
Command predict_command();
Command explain_command();
Command run_command();
Command jobs_command();
Command watch_command();
Command stop_command();
Command scale_command();
Command join_command();
Command submit_command();
Command agent_command();
Command coordinate_command();
Command checkpoint_command();
Command tokenizer_command();
Command plot_command();
Command soak_command();
Command bench_command();
Command completion_command();
Command version_command();

}  // namespace trireme::cli
