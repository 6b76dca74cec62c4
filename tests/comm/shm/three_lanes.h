// The lanes of three members of one block, all in one thread.

#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "trireme/comm/shm/lanes.h"

namespace trireme::comm::shm {

inline constexpr std::uint64_t kKey = 77;
inline constexpr int kMembers = 3;

class ThreeLanes : public ::testing::Test {
 protected:
  // Members are ranks 10, 11 and 12 of the job, so that the two numberings cannot be confused.
  ThreeLanes() {
    for (int me = 0; me < kMembers; ++me) lanes_.push_back(open(me));
  }
  std::unique_ptr<Lanes> open(int me) {
    const std::vector<Lanes::Member> members{{0, 10}, {1, 11}, {2, 12}};
    return std::make_unique<Lanes>(arena_, members, me, kKey,
                                   Deadline::after(std::chrono::seconds(10)));
  }
  static Operation operation(std::uint64_t sequence, std::string label = "") {
    Operation op;
    op.request.kind = OpKind::AllReduce;
    op.sequence = sequence;
    op.label = std::move(label);
    return op;
  }
  void publish(int member, Word Slot::* stage, std::uint64_t sequence, std::uint32_t steps) {
    Lanes& mine = *lanes_[static_cast<std::size_t>(member)];
    mine.publish(mine.slot(member, sequence).*stage, Lanes::stage_word(sequence, steps));
  }

  std::shared_ptr<Arena> arena_ = Arena::create({.members = kMembers});
  std::vector<std::unique_ptr<Lanes>> lanes_;
};

}  // namespace trireme::comm::shm
