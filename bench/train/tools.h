// TrainTools are the programs that `trireme bench train` starts: their paths in the build folder
// and their command lines.
//
//   <build>/trireme-bench-train      one process per rank
//   <build>/bench/peers/torch_train  PyTorch, if CMake found a Python with torch
//
// Errors:        the path of a missing program is empty; requesting a command line that needs it
//                throws NotFound, which says how to get it.
// Thread safety: values and pure functions, except find().

#pragma once

#include <filesystem>
#include <string>

#include "bench/launch.h"
#include "bench/train/entrant.h"

namespace trireme::bench::train {

struct TrainTools {
  Launch launch;
  std::filesystem::path rank;
  std::filesystem::path peer;

  // Looks next to the running program.
  static TrainTools find();

  cli::Program program_of(const Entrant& entrant) const;
  // Why this entrant cannot run here; empty if it can.
  std::string why_not(const Entrant& entrant) const;
};

}  // namespace trireme::bench::train
