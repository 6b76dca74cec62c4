// Balance decides which share of every step each data-parallel replica gets.
//
//   Proportional  changes shares until all replicas work equally long, which is the case when
//                 shares are proportional to speeds
//   LeastLoaded   moves a unit from the replica that works longest to the one that works shortest,
//                 if that shortens the longest time
//
// No share becomes 0, because a replica without work could not show that it has become faster.
//
// Thread safety: one thread per object. Equal paces give equal shares on every rank.

#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "trireme/train/balance/balance_config.h"

namespace trireme::train {

// The work of one rank between two comparisons of all ranks' speeds.
struct Pace {
  double seconds = 0;    // of work: all time except waiting for other ranks
  double samples = 0;    // run by this rank
  double data = 0;       // the part of `seconds` in which the rank waited for batches
  double throttled = 0;  // seconds in which a CPU quota kept its processes from running
  double delayed = 0;    // seconds in which its thread was runnable but another one ran
  double process = 0;    // process id on its host

  static constexpr std::size_t kSize = 6;
  std::array<double, kSize> to_array() const {
    return {seconds, samples, data, throttled, delayed, process};
  }
  static Pace from_array(const double* all) {
    return {all[0], all[1], all[2], all[3], all[4], all[5]};
  }
};

class Balance {
 public:
  // REQUIRES: mistake_in(config, replicas) is empty.
  Balance(const BalanceSettings& config, int replicas);

  // Why these settings are invalid for this number of replicas; empty if they are valid.
  static std::string mistake_in(const BalanceSettings& config, int replicas);

  // By replica; they add up to 1.
  const std::vector<double>& shares() const noexcept { return shares_; }
  // Updates the shares from the paces of all replicas. Returns whether the shares have changed.
  bool follow(std::span<const Pace> paces);

 private:
  std::vector<double> proportional(std::span<const Pace> paces) const;
  std::vector<double> least_loaded(std::span<const Pace> paces) const;

  BalanceKind kind_;
  std::vector<double> shares_;
};

}  // namespace trireme::train
