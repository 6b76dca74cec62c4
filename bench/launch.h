// How a benchmark starts programs: in the folder of the running program, as they lie in a build
// folder and in an installation. Ranks are started by `trireme run`, or in two network namespaces
// with a link between them (bench/namespaces.sh).
//
// Errors:        the path of a missing program is empty.
// Thread safety: values and pure functions, except find().

#pragma once

#include <filesystem>
#include <string>

#include "trireme/cli/program.h"

namespace trireme::bench {

// The exit status of a benchmark that the user interrupted.
inline constexpr int kExitInterrupted = 130;

using cli::beside;

struct Launch {
  std::filesystem::path trireme;
  std::filesystem::path namespaces;
  bool is_root = false;

  static Launch find();

  // `is_bound`: each rank to its own cores.
  cli::Program ranks(int count, const std::filesystem::path& program, bool is_bound = true) const;
  // This many ranks on each side of a link with this many bits per second.
  cli::Program over_wire(int each, double bits_per_second,
                         const std::filesystem::path& program) const;
  // Why there is no such link; empty if there is.
  std::string why_no_wire() const;
};

}  // namespace trireme::bench
