// --grace: how long ranks have from being asked to end to being killed, as `run` and `train` take
// it.
//
// Threads: pure.

#pragma once

#include <string>

#include "trireme/base/clock.h"

namespace trireme::cli {

// Sets it from a number of seconds; otherwise returns what is wrong.
std::string set_grace(Duration& grace, const std::string& text);

}  // namespace trireme::cli
