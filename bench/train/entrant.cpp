#include "bench/train/entrant.h"

#include <fmt/format.h>

#include <algorithm>

#include "bench/statistics.h"

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

TrainRecord TrainSeries::combined() const {
  TrainRecord all = *std::max_element(rounds.begin(), rounds.end(),
                                      [](const TrainRecord& left, const TrainRecord& right) {
                                        return left.units_per_second < right.units_per_second;
                                      });
  const auto median_bytes = [&](std::int64_t TrainRecord::* bytes) {
    return static_cast<std::int64_t>(
        median_of(rounds, [&](const TrainRecord& r) { return r.*bytes; }));
  };
  all.peak_bytes = median_bytes(&TrainRecord::peak_bytes);
  all.pss_bytes = median_bytes(&TrainRecord::pss_bytes);
  all.is_verified =
      std::all_of(rounds.begin(), rounds.end(), [](const TrainRecord& r) { return r.is_verified; });
  return all;
}

const TrainSeries* find(std::span<const TrainSeries> all, const Entrant& entrant) {
  for (const TrainSeries& series : all) {
    if (series.entrant.label() == entrant.label() && !series.rounds.empty()) return &series;
  }
  return nullptr;
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
