// The commands of `trireme bench`, one function per folder.

#pragma once

#include <vector>

#include "trireme/cli/command.h"

namespace trireme::bench {

std::vector<cli::Command> all_commands();

cli::Command checkpoint_command();
cli::Command codec_command();
cli::Command comm_command();

namespace recovery {
cli::Command recovery_command();
}

namespace train {
cli::Command train_command();
}

}  // namespace trireme::bench
