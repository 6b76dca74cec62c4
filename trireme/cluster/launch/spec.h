// JobSpec is what a person asked `trireme run` for.

#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "trireme/base/clock.h"

namespace trireme::cluster::launch {

struct JobSpec {
  std::vector<std::string> command;  // the program as it was written, and its arguments
  std::filesystem::path program;     // where it was found
  int ranks = 1;
  std::string name{};  // empty: made up
  // How long ranks may take to end once they were asked, before they are killed.
  Duration grace = std::chrono::seconds(5);
  bool bind = true;  // give each rank processors of its own, where there are enough
  // Keeps events, metrics and a log a rank there; empty: nothing is kept.
  std::filesystem::path output{};
};

}  // namespace trireme::cluster::launch
