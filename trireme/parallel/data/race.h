// Race tells a straggler that enough other replicas have finished their micro-batches, so that the
// step can be completed without it. Each rank of the group is a replica.
//
//   race.begin(1);             // one replica may be left out
//   ... if (race.is_lost())    // all other ranks are done, and this one is not
//   race.finish();             // this rank is done, or has given up
//   race.end();
//
// Each rank decides from the messages that it has received. No more than `left_out_max` ranks give
// up, and the ranks learn which ones did when gradients are reduced.
//
// Messages:      one byte to each other rank per step.
// Errors:        what Group throws; is_lost() leaves them to the next wait.
// Thread safety: one thread at a time.

#pragma once

#include <cstdint>
#include <vector>

#include "trireme/comm/group.h"

namespace trireme::parallel::data {

class Race {
 public:
  explicit Race(const comm::Group& group) : group_(group.duplicate()) {}

  void begin(int left_out_max);
  // Does not wait. False before begin() and after finish().
  bool is_lost();
  void finish();
  // Waits until all ranks have finished.
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
