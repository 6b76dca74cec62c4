// Balance says which share of every step a rank gets.
//
// Meaning:  with Proportional, shares change until all ranks work equally long, which they do when
//           shares are as their speeds; with LeastLoaded, a unit moves from the rank that works
//           longest to the one that works shortest, where that makes the longest shorter. No share
//           becomes nothing: whoever has none cannot show that it is faster now.
// Threads:  pure but for its own state; equal paces make equal shares on every rank.

#pragma once

#include <span>
#include <string>
#include <vector>

#include "trireme/train/balance/balance_config.h"
#include "trireme/train/report/pace.h"

namespace trireme::train {

class Balance {
 public:
  // REQUIRES: mistake_in(config, ranks) is empty.
  Balance(const BalanceSettings& config, int ranks);

  // Why these settings do not fit so many ranks; empty: they do.
  static std::string mistake_in(const BalanceSettings& config, int ranks);

  // By rank; they add up to 1.
  const std::vector<double>& shares() const noexcept { return shares_; }
  // After a look at all ranks. Whether the shares are others now.
  bool follow(std::span<const Pace> paces);

 private:
  std::vector<double> proportional(std::span<const Pace> paces) const;
  std::vector<double> least_loaded(std::span<const Pace> paces) const;

  BalanceKind kind_;
  std::vector<double> shares_;
};

}  // namespace trireme::train
