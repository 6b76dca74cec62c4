#include "bench/comm/tools.h"

#include <fmt/format.h>

#include "bench/comm/series.h"
#include "trireme/base/error.h"
#include "trireme/cluster/launch/rank/program.h"

namespace trireme::bench {
namespace {

namespace fs = std::filesystem;
using cli::Program;
using Words = std::vector<std::string>;

fs::path in_path(const std::string& name) {
  try {
    return cluster::launch::find_program(name);
  } catch (const Error&) {
    return {};
  }
}

const fs::path& need(const fs::path& path, const std::string& why_not) {
  if (path.empty()) throw Error(ErrorCode::NotFound, why_not);
  return path;
}

void append(Words& words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
}

Words peer_words(const Options& options) {
  return {fmt::format("{}", fmt::join(options.sizes, ",")), fmt::format("{}", options.seconds)};
}

}  // namespace

Tools Tools::find() {
  return {Launch::find(), beside("trireme-bench-comm"), beside("bench/peers/gloo"),
          beside("bench/peers/mpi_all_reduce"), in_path("mpirun")};
}

Words Tools::mpirun_words(int ranks) const {
  Words words{need(mpirun, "there is no mpirun in $PATH: install openmpi-bin").string(),
              "--oversubscribe", "-n", std::to_string(ranks)};
  if (launch.is_root) words.insert(words.begin() + 1, "--allow-run-as-root");
  return words;
}

Program Tools::ours(const Options& options) const {
  const fs::path& program =
      need(worker, "trireme-bench-comm is not beside " + launch.trireme.string() +
                       "; it is part of a build with TRIREME_TESTS=ON");
  Program result{{program.string()}};
  if (options.backend == "mpi") {
    const Words words = mpirun_words(options.ranks);
    result.words.insert(result.words.begin(), words.begin(), words.end());
  } else if (options.backend != "thread") {
    result = launch.ranks(options.ranks, program);
  }
  append(result.words, worker_words(options));
  return result;
}

Program Tools::peer(const Options& options) const {
  const std::string why_not = why_no_peer(options.backend);
  if (!why_not.empty()) throw Error(ErrorCode::NotFound, why_not);
  Program result;
  if (options.backend == kGloo) {
    // Gloo moves data on its own threads; binding would put them on their rank's core.
    result = launch.ranks(options.ranks, gloo, /*is_bound=*/false);
  } else {
    result.words = mpirun_words(options.ranks);
    result.words.push_back(mpi_peer.string());
  }
  append(result.words, peer_words(options));
  return result;
}

Program Tools::over_wire(const Options& options, double bits_per_second) const {
  const std::string why_not = launch.why_no_wire();
  if (!why_not.empty()) throw Error(ErrorCode::NotFound, why_not);
  Program result = launch.over_wire(/*each=*/1, bits_per_second, worker);
  append(result.words, worker_words(options));
  append(result.words, {"--wire", fmt::format("{:.0f}", bits_per_second)});
  return result;
}

std::string Tools::why_no_peer(const std::string& name) const {
  if (name == kGloo) {
    return gloo.empty() ? "no Gloo: CMake found no Python with torch (make setup)" : "";
  }
  if (name != kOpenMpi) return "no peer is called " + name;
  if (mpi_peer.empty()) return "no Open MPI: CMake found no mpicc (libopenmpi-dev)";
  return mpirun.empty() ? "no Open MPI: no mpirun in $PATH (openmpi-bin)" : "";
}

}  // namespace trireme::bench
