// Stragglers names the rank that stays much slower than the others, with the likely cause.
//
// Meaning:  slow is who needs kRatio times as long for a sample as the middle one of all ranks (of
//           two: as the other), in kLooks looks one after the other. Each is named once, and again
//           after it was fast in between.
// Threads:  pure but for its own state.

#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trireme/train/report/pace.h"

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
  // The slowest of those who are to be named now.
  std::optional<Slow> look(std::span<const Pace> paces);

 private:
  std::vector<int> looks_;  // by rank: in a row
};

// Why this rank may be slow.
std::string cause_of(const Pace& pace);

}  // namespace trireme::train
