// Stragglers finds ranks that stay much slower than the others, and the likely cause.
//
// A rank is a straggler if it needs kRatio times the median time per sample of all ranks (of two
// ranks: the time of the other one) in kLooks consecutive comparisons. Each straggler is reported
// once, and again if it was fast in between.
//
// Thread safety: one thread per object.

#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trireme/train/balance/balance.h"

namespace trireme::train {

class Stragglers {
 public:
  static constexpr double kRatio = 1.5;
  static constexpr int kLooks = 3;

  struct Slow {
    int rank = 0;
    double ratio = 1;
    long process = 0;
    std::string cause{};
  };
  // The slowest of the stragglers that have to be reported now.
  std::optional<Slow> look(std::span<const Pace> paces);

 private:
  std::vector<int> looks_;  // by rank: consecutive comparisons in which it was slow
};

// Why this rank may be slow.
std::string cause_of(const Pace& pace);

}  // namespace trireme::train
