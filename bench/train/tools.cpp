#include "bench/train/tools.h"

#include "trireme/base/error.h"

namespace trireme::bench::train {

TrainTools TrainTools::find() {
  return {Launch::find(), beside("trireme-bench-train"), beside("bench/peers/torch_train")};
}

std::string TrainTools::why_not(const Entrant& entrant) const {
  const std::string why = entrant.options.wire > 0 ? launch.why_no_wire() : "";
  if (!why.empty()) return why;
  if (entrant.who == kOurs) {
    return rank.empty() ? "trireme-bench-train is not beside " + launch.trireme.string() +
                              "; it is part of a build with torch and TRIREME_TESTS=ON"
                        : "";
  }
  return peer.empty() ? "no PyTorch: CMake found no Python with torch (make setup)" : "";
}

cli::Program TrainTools::program_of(const Entrant& entrant) const {
  if (const std::string why = why_not(entrant); !why.empty()) {
    throw Error(ErrorCode::NotFound, why);
  }
  const TrainOptions& options = entrant.options;
  const bool is_ours = entrant.who == kOurs;
  const std::filesystem::path& trained = is_ours ? rank : peer;
  cli::Program program{{trained.string()}};
  if (options.wire > 0) {
    program = launch.over_wire(options.ranks / 2, options.wire, trained);
  } else if (options.ranks > 1) {
    // Gloo moves data on its own threads; binding would put them on their rank's core.
    program = launch.ranks(options.ranks, trained, /*is_bound=*/is_ours);
  }
  const std::vector<std::string> words = case_words(options);
  program.words.insert(program.words.end(), words.begin(), words.end());
  return program;
}

}  // namespace trireme::bench::train
