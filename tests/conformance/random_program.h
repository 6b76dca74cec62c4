// A random program of operations on several groups, as a pure function of a seed. Every rank
// generates the same program, runs its part, and knows the expected results from the model.
//
// Groups are the world and random lists of its ranks. Operations of all kinds and sizes are in
// flight together, with random priorities and places; each rank waits in its own order.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/conformance/buffer.h"

namespace trireme::comm::conformance {

struct Step {
  std::size_t group = 0;  // index of the group in the program
  OpKind kind = OpKind::Barrier;
  DType type = DType::Float32;
  ReduceOp op = ReduceOp::Sum;
  int root = 0;      // or the sender
  int receiver = 0;  // send
  int salt = 0;      // of the values
  int priority = 0;
  bool is_uneven = false;
  // The number of elements that each member contributes or receives; for all_to_all, counts[from]
  // elements go to every member.
  std::vector<std::size_t> counts;
  std::uint32_t shared_ranks = 0;  // bit r: rank r's memory is in the arena

  std::string to_text() const;
};

struct Program {
  int ranks = 1;
  std::vector<std::vector<int>> groups;  // the first is the world
  std::vector<Step> steps;
};

Program make_program(std::uint64_t seed);

// Runs this rank's part. Returns the failures, one per line; empty if there are none.
// REQUIRES: world.size() == program.ranks.
std::string run_program(const Program& program, std::uint64_t seed, const Group& world);

}  // namespace trireme::comm::conformance
