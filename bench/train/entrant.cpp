#include "bench/train/entrant.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/statistics.h"
#include "trireme/base/error.h"

namespace trireme::bench::train {

std::string Entrant::label() const {
  return fmt::format("{} {}, {} x {}{}{}{}{}{}{}{}", who, options.model, options.ranks,
                     options.threads,
                     options.precision == "float32" ? "" : ", " + options.precision,
                     options.ranks == 1 ? "" : ", " + options.sync,
                     options.every == 0 ? "" : fmt::format(" every {}", options.every),
                     options.is_apart ? ", apart" : "", options.is_elastic ? ", elastic" : "",
                     options.codec == "none" ? "" : ", " + options.codec,
                     options.wire == 0 ? "" : fmt::format(", {:g} Mbit/s", options.wire / 1e6));
}

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

TrainRecord TrainSeries::combined() const {
  TrainRecord all = std::ranges::max(rounds, {}, &TrainRecord::units_per_second);
  for (auto bytes : {&TrainRecord::peak_bytes, &TrainRecord::pss_bytes}) {
    all.*bytes = static_cast<std::int64_t>(
        median_of(rounds, [&](const TrainRecord& r) { return r.*bytes; }));
  }
  all.is_verified = std::ranges::all_of(rounds, &TrainRecord::is_verified);
  return all;
}

const TrainSeries* find(std::span<const TrainSeries> all, const Entrant& entrant) {
  for (const TrainSeries& series : all) {
    if (series.entrant.label() == entrant.label() && !series.rounds.empty()) return &series;
  }
  return nullptr;
}

double ratio_of_bytes(std::int64_t ours, std::int64_t theirs) {
  return theirs > 0 ? static_cast<double>(ours) / static_cast<double>(theirs) : 0;
}

double times_as_fast(const TrainSeries& ours, const TrainSeries& theirs) {
  const double slower = theirs.combined().units_per_second;
  return slower > 0 ? ours.combined().units_per_second / slower : 0;
}

double times_as_fast_by_rounds(const TrainSeries& ours, const TrainSeries& theirs) {
  return median_ratio(ours.rounds, theirs.rounds,
                      [](const TrainRecord& r) { return r.units_per_second; });
}

}  // namespace trireme::bench::train
