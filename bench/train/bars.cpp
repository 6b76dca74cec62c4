#include "bench/train/bars.h"

#include <fmt/format.h>

#include <algorithm>

namespace trireme::bench::train {
namespace {

TrainBar against_pytorch(const TrainCase& from, double limit,
                         TrainMeasure measure = TrainMeasure::Speed) {
  return {{kOurs, {from, {}}}, {kPyTorch, {from, {}}}, measure, limit};
}

const char* peer_of(const TrainOptions& options) {
  if (options.ranks == 1) return "PyTorch";
  if (options.sync == "zero3") return "FSDP2";
  return options.sync == "zero1" ? "ZeroRedundancyOptimizer" : "DDP";
}

std::string other_of(const TrainBar& bar) {
  if (bar.other.who == kPyTorch) return peer_of(bar.other.options);
  if (bar.other.options.ranks != bar.ours.options.ranks) {
    return fmt::format("our {} x {}", bar.other.options.ranks, bar.other.options.threads);
  }
  return "our " + bar.other.options.sync;
}

std::string wanted_text(const TrainBar& bar) {
  const char* sign = bar.measure == TrainMeasure::Speed ? ">=" : "<=";
  if (bar.limit == 0) return "printed: x " + other_of(bar);
  return fmt::format("{} {} x {}", sign, bar.limit, other_of(bar));
}

std::string what_text(const TrainBar& bar) {
  const std::string label = bar.ours.label().substr(bar.ours.who.size() + 1);
  if (bar.measure == TrainMeasure::Speed) return label;
  return label + (bar.measure == TrainMeasure::PeakBytes ? ": peak" : ": PSS");
}

double ratio_of(const TrainBar& bar, const TrainSeries& ours, const TrainSeries& theirs) {
  switch (bar.measure) {
    case TrainMeasure::Speed:
      return times_as_fast(ours, theirs);
    case TrainMeasure::PeakBytes:
      return ratio_of_bytes(ours.combined().peak_bytes, theirs.combined().peak_bytes);
    case TrainMeasure::PssBytes:
      return ratio_of_bytes(ours.combined().pss_bytes, theirs.combined().pss_bytes);
  }
  return 0;
}

}  // namespace

std::vector<TrainBar> all_bars() {
  using enum TrainMeasure;
  const TrainCase apart{"gpt-wide", 2, 1, "float32", "zero3", true};
  const TrainCase apart_whole{"gpt-wide", 2, 1, "float32", "all_reduce", true};
  const TrainCase mini{"gpt-mini", 2, 1, "float32", "shared"};
  const TrainCase mini_alone{"gpt-mini", 1, 2};
  return {
      against_pytorch({"cnn", 1, 2}, 1.05),
      against_pytorch({"mlp", 1, 2}, 1.05),
      against_pytorch({"gpt-nano", 1, 2}, 1.05),
      against_pytorch(mini_alone, 0.98),
      against_pytorch({"gpt-wide", 1, 2}, 0.98),
      against_pytorch({"gpt-mini", 1, 2, "bf16"}, 0.98),
      against_pytorch({"gpt-wide", 1, 2, "bf16"}, 0.98),
      against_pytorch({"gpt-wide", 1, 2}, 0.9, PeakBytes),
      against_pytorch({"cnn", 2, 1, "float32", "shared"}, 1.25),
      against_pytorch({"mlp", 2, 1, "float32", "shared"}, 1.7),
      against_pytorch({"gpt-nano", 2, 1, "float32", "shared"}, 1.08),
      against_pytorch(mini, 1.05),
      against_pytorch({"gpt-mini", 2, 1, "bf16", "shared"}, 0),
      against_pytorch({"gpt-wide", 2, 1, "float32", "shared"}, 1.15),
      against_pytorch({"gpt-wide", 2, 1, "bf16", "shared"}, 0),
      against_pytorch({"gpt-wide", 2, 1, "float32", "zero3"}, 1.5),
      {{kOurs, {apart, {}}}, {kOurs, {apart_whole, {}}}, PeakBytes, 0.8},
      against_pytorch({"gpt-wide", 2, 1, "float32", "zero1"}, 1.15),
      {{kOurs, {mini, {}}}, {kOurs, {mini_alone, {}}}, Speed, 0.97},
      against_pytorch({"gpt-wide", 4, 1, "float32", "shared"}, 0.55, PssBytes),
  };
}

std::vector<TrainBar> bars_for(const TrainOptions& options) {
  std::vector<TrainBar> bars = all_bars();
  std::erase_if(bars, [&](const TrainBar& bar) {
    const TrainOptions& of = bar.ours.options;
    return (!options.model.empty() && of.model != options.model) ||
           (options.ranks != 0 && of.ranks != options.ranks);
  });
  for (TrainBar& bar : bars) {
    bar.ours.options.seconds = options.seconds;
    bar.other.options.seconds = options.seconds;
  }
  return bars;
}

bench::Verdict judge(const TrainBar& bar, std::span<const TrainSeries> measured) {
  bench::Verdict verdict{what_text(bar), wanted_text(bar), {}, std::nullopt};
  const TrainSeries* ours = find(measured, bar.ours);
  const TrainSeries* theirs = find(measured, bar.other);
  if (ours == nullptr || theirs == nullptr) {
    verdict.measured = ours == nullptr ? "ours did not run" : "no " + other_of(bar);
    return verdict;
  }
  if (!ours->combined().is_verified) {
    verdict.measured = "WENT WRONG";
    verdict.is_met = false;
    return verdict;
  }
  const double ratio = ratio_of(bar, *ours, *theirs);
  verdict.measured = fmt::format("{:.2f} x", ratio);
  if (bar.measure == TrainMeasure::Speed) {
    verdict.measured += fmt::format(" (by rounds {:.2f})", times_as_fast_by_rounds(*ours, *theirs));
  }
  if (bar.limit == 0) return verdict;
  verdict.is_met = bar.measure == TrainMeasure::Speed ? ratio >= bar.limit : ratio <= bar.limit;
  return verdict;
}

std::vector<Entrant> entrants_of(std::span<const TrainBar> bars) {
  std::vector<Entrant> all;
  for (const TrainBar& bar : bars) {
    for (const Entrant* entrant : {&bar.ours, &bar.other}) {
      const std::string label = entrant->label();
      if (std::ranges::count(all, label, &Entrant::label) == 0) all.push_back(*entrant);
    }
  }
  return all;
}

}  // namespace trireme::bench::train
