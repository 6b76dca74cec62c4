#include "trireme/train/balance/stragglers.h"

#include <algorithm>

namespace trireme::train {
namespace {

// The fraction of a rank's time above which a cause explains that it is slow.
constexpr double kMuch = 0.2;

// The median; the smaller of the two middle values if their number is even.
double usual(std::vector<double> costs) {
  const auto middle = costs.begin() + (std::ssize(costs) - 1) / 2;
  std::nth_element(costs.begin(), middle, costs.end());
  return *middle;
}

}  // namespace

std::string cause_of(const Pace& pace) {
  const double much = kMuch * pace.seconds;
  if (pace.throttled > much) return "a CPU quota keeps it from running";
  if (pace.data > much)
    return "it waits for its data (raise data.num_workers, unless the disk is slow)";
  if (pace.delayed > much) return "other processes compete for its cores";
  return "its cores are slower or fewer than those of the others";
}

std::optional<Stragglers::Slow> Stragglers::look(std::span<const Pace> paces) {
  looks_.resize(paces.size(), 0);
  std::vector<double> costs;
  for (const Pace& pace : paces) {
    if (pace.samples > 0 && pace.seconds > 0) costs.push_back(pace.seconds / pace.samples);
  }
  if (costs.size() < 2) return std::nullopt;
  const double cost = usual(std::move(costs));
  std::optional<Slow> slowest;
  for (std::size_t rank = 0; rank < paces.size(); ++rank) {
    const Pace& pace = paces[rank];
    const double ratio = pace.samples > 0 ? pace.seconds / pace.samples / cost : 1;
    looks_[rank] = ratio >= kRatio ? looks_[rank] + 1 : 0;
    if (looks_[rank] != kLooks || (slowest && slowest->ratio >= ratio)) continue;
    slowest = Slow{.rank = static_cast<int>(rank),
                   .ratio = ratio,
                   .process = static_cast<long>(pace.process),
                   .cause = cause_of(pace)};
  }
  return slowest;
}

}  // namespace trireme::train
