// Operation is one call on one rank, as a Group passes it to a Backend: the request, which must be
// the same on all members, this rank's memory, and the arguments that only this rank needs.
//
// Counts are in elements. `counts[m]` is the share of member m if shares differ (gather, scatter,
// reduce_scatter, all_gather); empty means `request.count` for each member. For all_to_all,
// `send_counts` and `counts` are the numbers of elements that this rank sends to, and receives
// from, each member.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "trireme/base/deadline.h"
#include "trireme/comm/request.h"
#include "trireme/device/device.h"

namespace trireme::comm {

struct Operation {
  OpRequest request;
  std::uint64_t sequence = 0;
  const std::byte* input = nullptr;
  std::byte* output = nullptr;
  std::vector<std::size_t> counts;
  std::vector<std::size_t> send_counts;
  int peer = -1;           // send and receive
  std::uint32_t tag = 0;   // send and receive
  Device device = {};      // that holds input and output
  void* stream = nullptr;  // of the device, on which the operation is ordered
  std::string label;
  int priority = 0;
  Deadline deadline = Deadline::never();

  std::size_t element_size() const noexcept { return size_of(request.type); }
  std::size_t count_of(int member) const noexcept {
    return counts.empty() ? request.count : counts[static_cast<std::size_t>(member)];
  }
  // Whether all members' data, as a whole, is reduced.
  bool reduces_all() const noexcept {
    return request.kind == OpKind::AllReduce || request.kind == OpKind::Reduce;
  }
  // "all_reduce #1842 (bucket 2)"
  std::string name() const;
};

inline std::string Operation::name() const {
  std::string text(name_of(request.kind));
  text += " #" + std::to_string(sequence);
  if (!label.empty()) text += " (" + label + ")";
  return text;
}

}  // namespace trireme::comm
