// Tools are the programs that a benchmark starts: their paths in the build folder and their command
// lines.
//
// Errors:        the path of a missing program is empty; program_of() throws NotFound with
//                why_not().
// Thread safety: values and pure functions, except find().

#pragma once

#include <filesystem>
#include <string>

#include "bench/comm/options.h"
#include "bench/launch.h"

namespace trireme::bench {

struct Tools {
  Launch launch;
  std::filesystem::path worker;    // trireme-bench-comm, one process per rank
  std::filesystem::path gloo;      // bench/peers/gloo, if CMake found a Python with torch
  std::filesystem::path mpi_peer;  // bench/peers/mpi_all_reduce, if CMake found mpicc
  std::filesystem::path mpirun;    // in $PATH

  // Looks next to the running program.
  static Tools find();

  // One run: of the peer that is the backend, of our ranks, or of two of them over a link with
  // options.wire bits per second.
  cli::Program program_of(const Options& options) const;
  // Why it cannot run here; empty if it can.
  std::string why_not(const Options& options) const;
};

}  // namespace trireme::bench
