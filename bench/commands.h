// The commands of `trireme bench`, one function per folder. main.cpp lists them.

#pragma once

#include "trireme/cli/command.h"

namespace trireme::bench {

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
