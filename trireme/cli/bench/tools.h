// Tools are the programs that a benchmark starts, where they lie in the build folder, and how each
// is told what to run.
//
//   <build>/trireme                     ourselves: `trireme run` starts ranks
//   <build>/trireme-bench-comm          the worker, one process a rank
//   <build>/bench/peers/gloo            PyTorch's Gloo, where CMake found a Python with torch
//   <build>/bench/peers/mpi_all_reduce  Open MPI, where CMake found mpicc; mpirun is in $PATH
//   <build>/bench/namespaces.sh         two network namespaces with a wire between them
//
// Failure: what is not there is empty; asking for a command line that needs it throws NotFound
//          and says how to get it.
// Threads: values and pure functions, but for find().

#pragma once

#include <filesystem>
#include <string>

#include "trireme/cli/bench/options.h"
#include "trireme/cli/bench/program.h"

namespace trireme::cli::bench {

struct Tools {
  std::filesystem::path self;
  std::filesystem::path worker;
  std::filesystem::path gloo;
  std::filesystem::path mpi_peer;
  std::filesystem::path mpirun;
  std::filesystem::path namespaces;
  bool is_root = false;

  // Beside the program that runs.
  static Tools find();

  // The ranks of one run of ours.
  Program ours(const Options& options) const;
  // A peer's; options.backend is its name.
  Program peer(const Options& options) const;
  // Two ranks of ours, with a wire of so many bits a second between them.
  Program over_wire(const Options& options, double bits_per_second) const;

  // Why this peer cannot run here; empty if it can.
  std::string why_no_peer(const std::string& name) const;
  std::string why_no_wire() const;

 private:
  std::vector<std::string> mpirun_words(int ranks) const;
};

}  // namespace trireme::cli::bench
