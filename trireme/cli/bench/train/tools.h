// TrainTools are the programs that `trireme bench train` starts, where they lie in the build
// folder, and how each is told what to train.
//
//   <build>/trireme                  ourselves: `trireme run` starts ranks
//   <build>/trireme-bench-train      one process a rank
//   <build>/bench/peers/torch_train  PyTorch, where CMake found a Python with torch
//   <build>/bench/namespaces.sh      two ranks with a wire between them
//
// Failure: what is not there is empty; asking for a command line that needs it throws NotFound and
//          says how to get it.
// Threads: values and pure functions, but for find().

#pragma once

#include <filesystem>
#include <string>

#include "trireme/cli/bench/program.h"
#include "trireme/cli/bench/train/entrant.h"

namespace trireme::cli::bench::train {

struct TrainTools {
  std::filesystem::path self;
  std::filesystem::path rank;
  std::filesystem::path peer;
  std::filesystem::path namespaces;
  bool is_root = false;

  // Beside the program that runs.
  static TrainTools find();

  Program program_of(const Entrant& entrant) const;
  // Why this one cannot run here; empty if it can.
  std::string why_not(const Entrant& entrant) const;
};

}  // namespace trireme::cli::bench::train
