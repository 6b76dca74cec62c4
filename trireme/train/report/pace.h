// Pace measures the work of one rank between two comparisons of all ranks' speeds.

#pragma once

#include <array>

namespace trireme::train {

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

}  // namespace trireme::train
