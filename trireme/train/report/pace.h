// Pace is what one rank did between two looks at everybody's speed.

#pragma once

#include <array>

namespace trireme::train {

struct Pace {
  double seconds = 0;    // of work: whatever was not waiting for other ranks
  double samples = 0;    // run here
  double data = 0;       // seconds of them in which it waited for batches
  double throttled = 0;  // seconds in which a quota kept its processes from running
  double delayed = 0;    // seconds in which its thread could run and another did
  double process = 0;    // its number on its host

  static constexpr std::size_t kSize = 6;
  std::array<double, kSize> to_array() const {
    return {seconds, samples, data, throttled, delayed, process};
  }
  static Pace from_array(const double* all) {
    return {all[0], all[1], all[2], all[3], all[4], all[5]};
  }
};

}  // namespace trireme::train
