// A random program of operations on several groups, as a pure function of a seed: every rank makes
// the same one, runs its part, and knows from the model what must come out.
//
// Groups are the world and random lists of its ranks; operations of all kinds and sizes are in
// flight together, with random priorities and places; each rank waits in an order of its own.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/conformance/buffer.h"

namespace trireme::comm::conformance {

struct Step {
  std::size_t group = 0;  // which of the program's groups
  OpKind kind = OpKind::Barrier;
  DType type = DType::Float32;
  ReduceOp op = ReduceOp::Sum;
  int root = 0;      // or the sender
  int receiver = 0;  // send
  int salt = 0;      // of the values
  int priority = 0;
  bool is_uneven = false;
  // What each member contributes, or gets; for all_to_all counts[from] goes to everybody.
  std::vector<std::size_t> counts;
  std::uint32_t shared_ranks = 0;  // bit r: rank r's memory lies in the arena

  std::string to_text() const;
};

struct Program {
  int ranks = 1;
  std::vector<std::vector<int>> groups;  // the first is the world
  std::vector<Step> steps;
};

Program make_program(std::uint64_t seed);

// This rank's part. Returns what went wrong, one complaint a line, empty when nothing did.
// REQUIRES: world.size() == program.ranks.
std::string run_program(const Program& program, std::uint64_t seed, const Group& world);

}  // namespace trireme::comm::conformance
