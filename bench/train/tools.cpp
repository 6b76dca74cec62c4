#include "bench/train/tools.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include "bench/beside.h"
#include "trireme/base/error.h"

namespace trireme::bench::train {
namespace {

using cli::Program;
namespace fs = std::filesystem;

}  // namespace

TrainTools TrainTools::find() {
  TrainTools tools;
  tools.self = beside("trireme");
  tools.rank = find_beside("trireme-bench-train");
  tools.peer = find_beside("bench/peers/torch_train");
  tools.namespaces = find_beside("bench/namespaces.sh");
  tools.is_root = ::geteuid() == 0;
  return tools;
}

std::string TrainTools::why_not(const Entrant& entrant) const {
  if (entrant.options.wire > 0) {
    if (namespaces.empty()) return "no namespaces: bench/namespaces.sh is missing";
    if (!is_root) return "no namespaces: only root may make them";
  }
  if (entrant.who == kOurs) {
    return rank.empty() ? "trireme-bench-train is not beside " + self.string() +
                              "; it is part of a build with torch and TRIREME_TESTS=ON, and is not "
                              "installed"
                        : "";
  }
  return peer.empty() ? "no PyTorch: CMake found no Python with torch (make setup)" : "";
}

Program TrainTools::program_of(const Entrant& entrant) const {
  if (const std::string why = why_not(entrant); !why.empty()) {
    throw Error(ErrorCode::NotFound, why);
  }
  Program program;
  const bool is_ours = entrant.who == kOurs;
  if (entrant.options.wire > 0) {
    // SIGKILL suffices: the PID namespace of the script, with all its processes, ends with the
    // first process in it.
    program = {{namespaces.string(), "--each", std::to_string(entrant.options.ranks / 2),
                fmt::format("{:.0f}", entrant.options.wire)},
               SIGKILL};
  } else if (entrant.options.ranks > 1) {
    program.words = {self.string(), "run", "-n", std::to_string(entrant.options.ranks)};
    // Gloo moves data on its own threads; binding would put them on their rank's core.
    if (!is_ours) program.words.insert(program.words.end(), {"--bind", "none"});
    program.words.emplace_back("--");
  }
  program.words.push_back(is_ours ? rank.string() : peer.string());
  const std::vector<std::string> words = case_words(entrant.options);
  program.words.insert(program.words.end(), words.begin(), words.end());
  return program;
}

}  // namespace trireme::bench::train
