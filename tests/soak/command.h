// The command `trireme soak`, which the program trireme-soak implements.

#pragma once

#include "trireme/cli/command.h"

namespace trireme::soak {

cli::Command soak_command();

}  // namespace trireme::soak
