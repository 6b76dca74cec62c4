#include "bench/comm/tools.h"

#include <fmt/format.h>

#include "bench/comm/series.h"
#include "trireme/base/error.h"
#include "trireme/cluster/launch/rank/program.h"

namespace trireme::bench {
namespace {

using Words = std::vector<std::string>;

std::filesystem::path in_path(const std::string& name) try {
  return cluster::launch::find_program(name);
} catch (const Error&) {
  return {};
}

void append(Words& words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
}

}  // namespace

Tools Tools::find() {
  return {Launch::find(), beside("trireme-bench-comm"), beside("bench/peers/gloo"),
          beside("bench/peers/mpi_all_reduce"), in_path("mpirun")};
}

std::string Tools::why_not(const Options& options) const {
  if (options.backend == kGloo) {
    return gloo.empty() ? "no Gloo: CMake found no Python with torch (make setup)" : "";
  }
  const bool is_peer = options.backend == kOpenMpi;
  if (is_peer && mpi_peer.empty()) return "no Open MPI: CMake found no mpicc (libopenmpi-dev)";
  if ((is_peer || options.backend == "mpi") && mpirun.empty()) {
    return "no Open MPI: no mpirun in $PATH (openmpi-bin)";
  }
  if (!is_peer && worker.empty()) {
    return "trireme-bench-comm is not beside " + launch.trireme.string() +
           "; it is part of a build with TRIREME_TESTS=ON";
  }
  return options.wire > 0 ? launch.why_no_wire() : "";
}

cli::Program Tools::program_of(const Options& options) const {
  if (const std::string why = why_not(options); !why.empty()) {
    throw Error(ErrorCode::NotFound, why);
  }
  const bool is_gloo = options.backend == kGloo, is_mpi_peer = options.backend == kOpenMpi;
  const std::string program = (is_gloo ? gloo : is_mpi_peer ? mpi_peer : worker).string();
  cli::Program result{{program}};
  if (is_mpi_peer || options.backend == "mpi") {
    result.words = {mpirun.string()};
    if (launch.is_root) append(result.words, {"--allow-run-as-root"});
    append(result.words, {"--oversubscribe", "-n", std::to_string(options.ranks), program});
  } else if (options.wire > 0) {
    result = launch.over_wire(/*each=*/1, options.wire, program);
  } else if (options.backend != "thread") {
    // Gloo moves data on its own threads; binding would put them on their rank's core.
    result = launch.ranks(options.ranks, program, /*is_bound=*/!is_gloo);
  }
  if (is_gloo || is_mpi_peer) {
    append(result.words,
           {fmt::format("{}", fmt::join(options.sizes, ",")), fmt::format("{}", options.seconds)});
  } else {
    append(result.words, worker_words(options));
  }
  return result;
}

}  // namespace trireme::bench
