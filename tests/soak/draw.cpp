#include "tests/soak/draw.h"

#include <array>

#include "trireme/base/check.h"
#include "trireme/base/injected_fault.h"
#include "trireme/base/random.h"

namespace trireme::soak {
namespace {

using std::chrono::milliseconds;

// More faults than any job experiences before it ends.
constexpr int kFaultsMax = 200;
constexpr int kWorkersMax = 40;
constexpr int kAfterMin = 100, kAfterMax = 900;  // milliseconds
constexpr int kGapMax = 40;
// Probability that a worker injects a fault into itself.
constexpr double kChaosShare = 0.3;

struct Weight {
  FaultKind kind;
  int weight;
};
constexpr std::array<Weight, 7> kWeights{{{FaultKind::Kill, 30},
                                          {FaultKind::KillTwo, 15},
                                          {FaultKind::KillTwice, 15},
                                          {FaultKind::KillComing, 10},
                                          {FaultKind::Freeze, 15},
                                          {FaultKind::Pause, 5},
                                          {FaultKind::Coordinator, 10}}};

FaultKind draw_kind(Random& random) {
  int total = 0;
  for (const Weight& one : kWeights) total += one.weight;
  int at = static_cast<int>(random.below(static_cast<std::uint64_t>(total)));
  for (const Weight& one : kWeights) {
    if (at < one.weight) return one.kind;
    at -= one.weight;
  }
  return FaultKind::Kill;
}

std::string draw_chaos(Random& random, const DrawOptions& options) {
  std::string text;
  for (int worker = 0; worker < kWorkersMax; ++worker) {
    // Draws the values even if they are not used, so that the result for one worker does not change
    // those of the others.
    const double share = random.uniform_double();
    const std::uint64_t step = random.below(static_cast<std::uint64_t>(options.steps));
    const std::string_view moment = kMoments[random.below(kMoments.size())];
    const bool is_stop = random.below(4) == 0;
    if (share >= kChaosShare) continue;
    text += (text.empty() ? "" : "; ") + std::string(is_stop ? "stop" : "kill") +
            " rank=" + std::to_string(worker) + " step=" + std::to_string(step) +
            " at=" + std::string(moment);
  }
  return text;
}

}  // namespace

std::string_view name_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::Kill:
      return "kill";
    case FaultKind::KillTwo:
      return "kill two";
    case FaultKind::KillTwice:
      return "kill twice";
    case FaultKind::KillComing:
      return "kill coming";
    case FaultKind::Freeze:
      return "freeze";
    case FaultKind::Pause:
      return "pause";
    case FaultKind::Coordinator:
      return "coordinator";
  }
  return "";
}

Draw draw(const DrawOptions& options) {
  TRIREME_CHECK(!options.kinds.empty() && options.steps > 0, "nothing to draw from");
  Random random(options.seed, static_cast<std::uint64_t>(options.job));
  Draw all;
  // Uses the strategies in turn, so that a few jobs cover all of them.
  all.kind = options.kinds[static_cast<std::size_t>(options.job) % options.kinds.size()];
  all.chaos = draw_chaos(random, options);
  for (int i = 0; i < kFaultsMax; ++i) {
    Fault fault;
    fault.kind = draw_kind(random);
    fault.after = milliseconds(kAfterMin + static_cast<int>(random.below(kAfterMax - kAfterMin)));
    fault.gap = milliseconds(random.below(kGapMax));
    fault.victim = random.bits32();
    all.faults.push_back(fault);
  }
  return all;
}

}  // namespace trireme::soak
