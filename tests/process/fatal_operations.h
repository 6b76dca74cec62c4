// Every operation of a group of three, such that its third rank can fail: that rank is the root if
// there is one, and all ranks wait for it.

#pragma once

#include <string_view>
#include <vector>

#include "trireme/comm/group.h"

namespace trireme::comm {

// Memory for any of the operations, ordinary or in the arena.
class FatalMemory {
 public:
  FatalMemory(const Group& group, std::size_t count, bool is_shared)
      : count_(count), own_(is_shared ? 0 : 8 * count, 1.0f) {
    if (is_shared) piece_ = group.arena()->allocate(group.arena_member(), 8 * count * 4);
    data_ = is_shared ? reinterpret_cast<float*>(piece_.data()) : own_.data();
  }
  Span part(std::size_t first, std::size_t parts) const {
    return {data_ + first * count_, parts * count_, DType::Float32};
  }

 private:
  std::size_t count_;
  std::vector<float> own_;
  ArenaPiece piece_;
  float* data_ = nullptr;
};

inline constexpr int kFatalRoot = 2;

struct FatalOperation {
  std::string_view name;
  void (*run)(const Group& group, const FatalMemory& memory, const Call& call);
  bool has_points = true;  // passes fault points; otherwise its rank fails between two of them
};

// Rank 0 waits for a message from rank 2, which waits for one from rank 1.
inline void pass_messages(const Group& g, const FatalMemory& m, const Call& call) {
  std::vector<Work> works;
  if (g.rank() != 0) works.push_back(g.send(m.part(0, 1), g.rank() == 1 ? 2 : 0, 7, call));
  if (g.rank() != 1) works.push_back(g.receive(m.part(1, 1), g.rank() == 0 ? 2 : 1, 7, call));
  wait_all(works);
}

inline void sum_in_order(const Group& g, const FatalMemory& m, const Call& call) {
  const LogicalShare mine{2 - g.rank(), m.part(0, 1)};
  const int owners[] = {2, 1, 0};
  g.ordered_sum(m.part(1, 1), {&mine, 1}, owners, ReduceOp::Sum, call).wait();
}

inline constexpr FatalOperation kFatalOperations[] = {
    {"all_reduce",
     [](const Group& g, const FatalMemory& m, const Call& call) {
       g.all_reduce(m.part(0, 1), ReduceOp::Sum, call).wait();
     }},
    {"reduce",
     [](const Group& g, const FatalMemory& m, const Call& call) {
       g.reduce(m.part(0, 1), ReduceOp::Max, kFatalRoot, call).wait();
     }},
    {"reduce_scatter",
     [](const Group& g, const FatalMemory& m, const Call& call) {
       g.reduce_scatter(m.part(1, 1), m.part(2, 3), ReduceOp::Max, call).wait();
     }},
    {"all_gather", [](const Group& g, const FatalMemory& m,
                      const Call& call) { g.all_gather(m.part(2, 3), m.part(0, 1), call).wait(); }},
    {"gather",
     [](const Group& g, const FatalMemory& m, const Call& call) {
       g.gather(m.part(2, 3), m.part(0, 1), kFatalRoot, call).wait();
     }},
    {"scatter",
     [](const Group& g, const FatalMemory& m, const Call& call) {
       g.scatter(m.part(1, 1), m.part(2, 3), kFatalRoot, call).wait();
     }},
    {"broadcast", [](const Group& g, const FatalMemory& m,
                     const Call& call) { g.broadcast(m.part(0, 1), kFatalRoot, call).wait(); }},
    {"all_to_all", [](const Group& g, const FatalMemory& m,
                      const Call& call) { g.all_to_all(m.part(5, 3), m.part(2, 3), call).wait(); }},
    {"barrier",
     [](const Group& g, const FatalMemory&, const Call& call) { g.barrier(call).wait(); }},
    {"messages", pass_messages, false},
    {"ordered_sum", sum_in_order}};

}  // namespace trireme::comm
