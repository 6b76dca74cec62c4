// The option --grace of `run` and `train`: the time that ranks have to end after SIGTERM before
// they are killed.
//
// Thread safety: pure functions.

#pragma once

#include <string>

#include "trireme/base/clock.h"

namespace trireme::cli {

// Sets `grace` from a number of seconds. Returns what is wrong with the text, or "".
std::string set_grace(Duration& grace, const std::string& text);

}  // namespace trireme::cli
