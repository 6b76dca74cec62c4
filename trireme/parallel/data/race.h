// Race tells a rank that so many others have finished their slots of a step that the step can go on
// without it.
//
//   race.begin(1);             // of all ranks, one may be left out
//   ... if (race.is_lost())    // all but one are done, and this one is not
//   race.finish();             // this one is done, or has given up
//   race.end();
//
// Each rank decides for itself and from what it has heard: never more than so many give up, and who
// did is told when all add up their gradients.
//
// Messages: one byte to each other rank a step.
// Threads:  one. Failure: what Group throws.

#pragma once

#include <cstdint>
#include <vector>

#include "trireme/comm/group.h"

namespace trireme::parallel::data {

class Race {
 public:
  explicit Race(const comm::Group& group) : group_(group.duplicate()) {}

  void begin(int left_out_max);
  // Without waiting. False before begin() and after finish().
  bool is_lost();
  void finish();
  // Waits until all have finished.
  void end();

 private:
  comm::Group group_;
  int left_out_max_ = 0;
  bool is_on_ = false;
  std::uint8_t mine_ = 1;
  std::vector<std::uint8_t> others_;
  std::vector<comm::Work> received_;
  std::vector<bool> is_there_;
  std::vector<comm::Work> sent_;
};

}  // namespace trireme::parallel::data
