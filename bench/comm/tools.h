// Tools are the programs that a benchmark starts: their paths in the build folder and their command
// lines.
//
//   <build>/trireme-bench-comm          the worker, one process per rank
//   <build>/bench/peers/gloo            PyTorch's Gloo, if CMake found a Python with torch
//   <build>/bench/peers/mpi_all_reduce  Open MPI, if CMake found mpicc; mpirun is in $PATH
//
// Errors:        the path of a missing program is empty; requesting a command line that needs it
//                throws NotFound, which says how to get it.
// Thread safety: values and pure functions, except find().

#pragma once

#include <filesystem>
#include <string>

#include "bench/comm/options.h"
#include "bench/launch.h"

namespace trireme::bench {

struct Tools {
  Launch launch;
  std::filesystem::path worker;
  std::filesystem::path gloo;
  std::filesystem::path mpi_peer;
  std::filesystem::path mpirun;

  // Looks next to the running program.
  static Tools find();

  // The ranks of one run of Trireme.
  cli::Program ours(const Options& options) const;
  // A run of a peer; options.backend is its name.
  cli::Program peer(const Options& options) const;
  // Two ranks of Trireme, connected by a link with this many bits per second.
  cli::Program over_wire(const Options& options, double bits_per_second) const;

  // Why this peer cannot run here; empty if it can.
  std::string why_no_peer(const std::string& name) const;

 private:
  std::vector<std::string> mpirun_words(int ranks) const;
};

}  // namespace trireme::bench
