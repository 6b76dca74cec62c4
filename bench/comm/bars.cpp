#include "bench/comm/bars.h"

#include <fmt/format.h>

#include <algorithm>

namespace trireme::bench {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kLarge = 64 * kMiB;

CommRecord record_of(const Case& of, std::size_t bytes = kLarge) {
  CommRecord record{of};
  record.bytes = bytes;
  return record;
}

std::string wanted_text(const Bar& bar) {
  switch (bar.measure) {
    case Measure::TimesPeer:
      return fmt::format(">= {} x {}", bar.limit, bar.peer);
    case Measure::TimesPeerBest:
      return fmt::format(">= {} x {}, best", bar.limit, bar.peer);
    case Measure::ShareOfBound:
      return fmt::format(">= {} of the bound", bar.limit);
    case Measure::Seconds:
      return "<= " + time_text(bar.limit);
    case Measure::BytesPerSecond:
      return ">= " + rate_text(bar.limit);
    case Measure::ShareOfFloat32:
      return fmt::format(">= {} of float32", bar.limit);
  }
  return {};
}

CommRecord in_float32(CommRecord record) {
  record.type = "float32";
  return record;
}

// Compares the series with the bar. REQUIRES: `ours` was measured and its results are correct.
void compare(Verdict& verdict, const Bar& bar, const Series& ours, std::span<const Series> all) {
  const CommRecord combined = ours.combined();
  const auto at_least = [&](double value, const std::string& text) {
    verdict.measured = text;
    verdict.is_met = value >= bar.limit;
  };
  switch (bar.measure) {
    case Measure::TimesPeer:
    case Measure::TimesPeerBest: {
      const Series* theirs = find(all, bar.peer, bar.of);
      if (theirs == nullptr) {
        verdict.measured = "no " + bar.peer + " here";
        return;
      }
      const double times = bar.measure == Measure::TimesPeerBest
                               ? times_as_fast_at_best(ours, *theirs)
                               : times_as_fast(ours, *theirs);
      return at_least(times, fmt::format("{:.2f} x", times));
    }
    case Measure::ShareOfBound:
      verdict.measured = "no bound was measured";
      if (const auto share = combined.share_of_bound()) {
        at_least(*share, fmt::format("{:.2f}", *share));
      }
      return;
    case Measure::Seconds:
      verdict.measured = time_text(combined.seconds);
      verdict.is_met = combined.seconds <= bar.limit;
      return;
    case Measure::BytesPerSecond:
      return at_least(combined.bytes_per_second(), rate_text(combined.bytes_per_second()));
    case Measure::ShareOfFloat32: {
      verdict.measured = "float32 was not measured";
      if (const Series* reference = find(all, kOurs, in_float32(bar.of))) {
        const double share = times_as_fast(ours, *reference);
        at_least(share, fmt::format("{:.2f}", share));
      }
    }
  }
}

Options options_of(const CommRecord& of) {
  return {of, {}, {of.bytes}};
}

// Adds the sizes to an existing run that is otherwise identical, or adds a new run.
void merge(std::vector<Options>& runs, const Options& run) {
  for (Options& other : runs) {
    if (!other.Case::operator==(run)) continue;
    for (std::size_t size : run.sizes) {
      if (std::find(other.sizes.begin(), other.sizes.end(), size) == other.sizes.end()) {
        other.sizes.push_back(size);
      }
    }
    std::sort(other.sizes.begin(), other.sizes.end());
    return;
  }
  runs.push_back(run);
}

}  // namespace

std::vector<Bar> all_bars() {
  using enum Measure;
  const CommRecord large = record_of({.is_symmetric = true});
  const CommRecord middle = record_of({.is_symmetric = true}, kMiB);
  const CommRecord ordinary = record_of({});
  const CommRecord small = record_of({}, 64);
  const CommRecord crowded = record_of({.ranks = 4, .is_symmetric = true});
  const CommRecord tcp = record_of({.backend = "tcp"});
  const CommRecord wired = record_of({.backend = "tcp", .wire = 1e9});
  const CommRecord bfloat16 = record_of({.type = "bfloat16", .is_symmetric = true});
  const CommRecord int8 = record_of({.type = "int8", .is_symmetric = true});
  return {
      {"shm symmetric 64 MiB, 2 ranks", large, TimesPeer, 8, kGloo},
      {"shm symmetric 64 MiB, 2 ranks", large, TimesPeer, 4, kOpenMpi},
      {"shm symmetric 64 MiB, 2 ranks", large, ShareOfBound, 0.85},
      // Three times the rate of DeepSpeed's shared-memory all-reduce on such a machine.
      {"shm symmetric 64 MiB, 2 ranks", large, BytesPerSecond, 12e9},
      {"shm symmetric 1 MiB, 2 ranks", middle, TimesPeer, 25, kGloo},
      {"shm symmetric 1 MiB, 2 ranks", middle, TimesPeer, 8, kOpenMpi},
      {"shm symmetric 1 MiB, 2 ranks", middle, Seconds, 90e-6},  // DeepSpeed's time
      {"shm ordinary 64 MiB, 2 ranks", ordinary, TimesPeerBest, 3.5, kGloo},
      {"shm ordinary 64 MiB, 2 ranks", ordinary, TimesPeerBest, 2, kOpenMpi},
      {"shm 64 B, 2 ranks, p50", small, Seconds, 3e-6},
      {"shm symmetric 64 MiB, 4 ranks", crowded, TimesPeer, 5, kGloo},
      {"tcp loopback 64 MiB, 2 ranks", tcp, ShareOfBound, 1.1},
      {"tcp loopback 64 MiB, 2 ranks", tcp, TimesPeer, 1.6, kGloo},
      {"tcp over 1 Gbit/s, 64 MiB", wired, ShareOfBound, 0.9},
      {"shm symmetric bfloat16 64 MiB", bfloat16, ShareOfFloat32, 0.7},
      {"shm symmetric int8 64 MiB", int8, ShareOfFloat32, 0.7},
  };
}

Verdict judge(const Bar& bar, std::span<const Series> measured) {
  Verdict verdict{bar.what, wanted_text(bar), "not measured", std::nullopt};
  const Series* ours = find(measured, kOurs, bar.of);
  if (ours == nullptr) return verdict;
  if (ours->combined().is_verified) {
    compare(verdict, bar, *ours, measured);
  } else {
    verdict.measured = "WRONG RESULT";
    verdict.is_met = false;
  }
  return verdict;
}

std::string table_of(std::span<const Verdict> verdicts) {
  constexpr const char* kRow = "{:<31} {:<20} {:<22} {}\n";
  std::string text = fmt::format(kRow, "what", "bar", "measured", "met");
  for (const Verdict& verdict : verdicts) {
    const char* met = !verdict.is_met ? "-" : *verdict.is_met ? "yes" : "NO";
    text += fmt::format(kRow, verdict.what, verdict.wanted, verdict.measured, met);
  }
  return text;
}

std::vector<Options> runs_for(std::span<const Bar> bars) {
  std::vector<Options> runs;
  for (const Bar& bar : bars) {
    merge(runs, options_of(bar.of));
    if (bar.measure == Measure::ShareOfFloat32) merge(runs, options_of(in_float32(bar.of)));
    if (!bar.peer.empty()) merge(runs, as_peer(options_of(bar.of), bar.peer));
  }
  return runs;
}

Options as_peer(Options options, const std::string& peer) {
  options.backend = peer;
  options.is_symmetric = false;
  return options;
}

}  // namespace trireme::bench
