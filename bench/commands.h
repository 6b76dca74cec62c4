// The commands of `trireme bench`, one function per folder.

#pragma once

#include <vector>

#include "trireme/cli/command.h"

namespace trireme::bench {

cli::Command checkpoint_command();
cli::Command codec_command();
cli::Command comm_command();

namespace gpu {
cli::Command gpu_command();
}

namespace recovery {
cli::Command recovery_command();
}

namespace train {
cli::Command train_command();
}

inline std::vector<cli::Command> all_commands() {
  return {checkpoint_command(),         codec_command(),       comm_command(), gpu::gpu_command(),
          recovery::recovery_command(), train::train_command()};
}

}  // namespace trireme::bench
