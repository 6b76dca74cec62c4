// One rank's part of one step of a random program: starts it, and compares its memory with the
// model once it is done.

#pragma once

#include <numeric>
#include <vector>

#include "tests/conformance/random_program.h"

namespace trireme::comm::conformance {

// A step in flight on one rank: its memory, and how to check it.
struct Running {
  explicit Running(const Step& s) : step(s) {}
  const Step& step;
  std::vector<Buffer> buffers;
  std::vector<Span> spans;
  std::vector<LogicalShare> shares;
  Work work;
};

// One rank's part of one step.
class Player {
 public:
  Player(const Group& world, const Group& group, Running& running)
      : world_(world), group_(group), running_(running), step_(running.step) {}

  void start();
  void check(Report& report) const;

 private:
  std::size_t n() const { return step_.counts.size(); }
  std::size_t me() const { return static_cast<std::size_t>(group_.rank()); }
  std::size_t first(std::size_t member) const {
    return std::accumulate(step_.counts.begin(),
                           step_.counts.begin() + static_cast<std::ptrdiff_t>(member),
                           std::size_t{0});
  }
  bool is_root() const { return group_.rank() == step_.root; }
  Cycle input(std::size_t member) const {
    return Cycle::input(step_.type, step_.salt, static_cast<int>(member));
  }
  Cycle result() const { return Cycle::result(step_.type, step_.op, step_.salt, group_.size()); }
  Buffer& add(std::size_t count) {
    const bool is_shared = (step_.shared_ranks >> world_.rank() & 1) != 0;
    return running_.buffers.emplace_back(world_, step_.type, count,
                                         is_shared ? Place::Shared : Place::Ordinary);
  }
  Call call() const { return {.label = "random", .priority = step_.priority}; }
  Work start_reduction();
  Work start_move();
  Work start_ordered_sum();
  void expect(const Cycle& cycle, const Buffer& out, std::size_t at, std::size_t from,
              std::size_t count, Report& report) const;

  const Group& world_;
  const Group& group_;
  Running& running_;
  const Step& step_;
};

}  // namespace trireme::comm::conformance
