// Ring all_reduce: slices travel around the ring of ranks and each rank adds its share, until rank
// r holds the complete slice r + 1. The complete slices then travel around once more, so that every
// rank has all of them. 2 (n-1) steps; each rank sends and receives 2 (n-1)/n of the data, only to
// and from its neighbours.
//
// Pipelined over chunks: a chunk is sent on as soon as it has been added to.

#include <algorithm>

#include "trireme/comm/algorithm/message_backend.h"
#include "trireme/comm/kernel/combine.h"

namespace trireme::comm {

Task MessageBackend::ring(const Operation& op) {
  const std::size_t element = op.element_size();
  const auto n = static_cast<std::size_t>(size());
  const auto me = static_cast<std::size_t>(me_);
  const std::size_t chunk = kChunkSize / element;
  const int right = peer(static_cast<int>((me + 1) % n));
  const int left = peer(static_cast<int>((me + n - 1) % n));
  const auto slice = [&](std::size_t m) {
    return slice_of(op.request.count, n, m, line_grain(element));
  };
  const std::size_t chunks = (slice(0).count + chunk - 1) / chunk;
  const auto part = [&](std::size_t m, std::size_t k) {
    const MemberSlice all = slice(m % n);
    const std::size_t first = std::min(all.count, k * chunk);
    return MemberSlice{all.first + first, std::min(chunk, all.count - first)};
  };
  const auto channel = [&](std::size_t step, std::size_t k) {
    return 1 + static_cast<std::uint32_t>(step * chunks + k);
  };
  const std::size_t steps = 2 * (n - 1);
  // In step s this rank sends slice (me - s) and receives slice (me - s - 1).
  Transfers sent(*messenger_);
  const auto pass_on = [&](std::size_t step, std::size_t k) {
    const MemberSlice p = part(me + 2 * n - step, k);
    if (step >= steps || p.count == 0) return;
    sent.send(right, id(op, channel(step, k)), {op.output + p.first * element, p.count * element});
  };
  for (std::size_t k = 0; k < chunks; ++k) pass_on(0, k);

  Bytes scratch(kChunkSize);
  for (std::size_t step = 0; step < steps; ++step) {
    const bool adds = step < n - 1;
    for (std::size_t k = 0; k < chunks; ++k) {
      const MemberSlice p = part(me + 2 * n - step - 1, k);
      if (p.count == 0) continue;
      std::byte* place = op.output + p.first * element;
      // A complete slice may overwrite memory that an earlier step sent from: it has already passed
      // through the rank that received that message.
      Transfers incoming(*messenger_);
      incoming.receive(left, id(op, channel(step, k)),
                       {adds ? scratch.data() : place, p.count * element});
      co_await until([&] { return incoming.all_done(); });
      if (adds) {
        const void* sources[] = {scratch.data(), place};
        void* out = place;
        // The division for the mean happens once, when the slice is complete.
        const bool is_last = step == n - 2;
        const bool is_mean = op.request.reduce == ReduceOp::Mean;
        const ReduceOp how = is_mean && !is_last ? ReduceOp::Sum : op.request.reduce;
        combine({op.request.type, how, n}, sources, {&out, 1}, p.count);
      }
      if (step == 0 && k == 0) reach(options_.faults, kMessageHalfway, peer(me_));
      pass_on(step + 1, k);
    }
  }
  co_await until([&] { return sent.all_done(); });
}

}  // namespace trireme::comm
