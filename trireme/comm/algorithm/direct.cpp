// Direct all_reduce and reduce: rank r owns slice r. Every rank sends slice r directly to rank r,
// which combines all of them at once (in rank order, rounding once) and sends the result directly
// back. Two steps; each rank sends and receives 2 (n-1)/n of the data.
//
// Both steps are pipelined over chunks: a chunk is sent back as soon as it is combined, while the
// next chunks still arrive, so that it is still in the cache.

#include <algorithm>

#include "trireme/comm/algorithm/message_backend.h"
#include "trireme/comm/kernel/combine.h"

namespace trireme::comm {
namespace {

// Number of chunks in flight before the first has to be combined.
constexpr std::size_t kAhead = 4;

constexpr std::uint32_t to_owner(std::size_t chunk) {
  return 1 + 2 * static_cast<std::uint32_t>(chunk);
}
constexpr std::uint32_t from_owner(std::size_t chunk) {
  return 2 + 2 * static_cast<std::uint32_t>(chunk);
}

}  // namespace

Task MessageBackend::direct(const Operation& op) {
  const std::size_t element = op.element_size();
  const auto n = static_cast<std::size_t>(size());
  const auto me = static_cast<std::size_t>(me_);
  // Small enough that n chunks in flight stay in the second-level cache.
  const std::size_t chunk = kChunkSize / 2 / element;
  const auto wants = [&](std::size_t m) {
    return op.request.kind == OpKind::AllReduce || static_cast<int>(m) == op.request.root;
  };
  const auto slice = [&](std::size_t m) {
    return slice_of(op.request.count, n, m, line_grain(element));
  };
  const auto part = [&](std::size_t m, std::size_t k) {
    const MemberSlice all = slice(m);
    const std::size_t first = std::min(all.count, k * chunk);
    return MemberSlice{all.first + first, std::min(chunk, all.count - first)};
  };
  const std::size_t chunks = (slice(0).count + chunk - 1) / chunk;

  // Results can be received directly into the output: the owner answers only after it has received
  // this rank's share.
  Transfers results(*messenger_);
  for (std::size_t k = 0; k < chunks && wants(me); ++k) {
    for (std::size_t m = 0; m < n; ++m) {
      const MemberSlice place = part(m, k);
      if (m == me || place.count == 0) continue;
      results.receive(peer(static_cast<int>(m)), id(op, from_owner(k)),
                      {op.output + place.first * element, place.count * element});
    }
  }

  std::vector<Bytes> scratch(kAhead, Bytes(n * chunk * element));
  std::vector<std::unique_ptr<Transfers>> shares(kAhead);
  Transfers sent(*messenger_);
  const auto begin = [&](std::size_t k) {
    shares[k % kAhead] = std::make_unique<Transfers>(*messenger_);
    for (std::size_t i = 1; i < n; ++i) {
      const std::size_t m = (me + i) % n;
      const MemberSlice theirs = part(m, k);
      if (theirs.count != 0) {
        sent.send(peer(static_cast<int>(m)), id(op, to_owner(k)),
                  {op.input + theirs.first * element, theirs.count * element});
      }
      if (const MemberSlice ours = part(me, k); ours.count != 0) {
        shares[k % kAhead]->receive(
            peer(static_cast<int>(m)), id(op, to_owner(k)),
            {scratch[k % kAhead].data() + m * chunk * element, ours.count * element});
      }
    }
  };

  std::vector<std::byte> aside(op.output == nullptr ? chunk * element : 0);
  for (std::size_t k = 0; k < std::min(kAhead, chunks); ++k) begin(k);
  for (std::size_t k = 0; k < chunks; ++k) {
    Transfers& incoming = *shares[k % kAhead];
    co_await until([&] { return incoming.all_done(); });
    const MemberSlice ours = part(me, k);
    std::vector<const void*> sources;
    for (std::size_t m = 0; m < n; ++m) {
      sources.push_back(m == me ? op.input + ours.first * element
                                : scratch[k % kAhead].data() + m * chunk * element);
    }
    std::byte* place = op.output != nullptr ? op.output + ours.first * element : aside.data();
    void* out = place;
    combine({op.request.type, op.request.reduce, n}, sources, {&out, 1}, ours.count);
    if (k == 0) reach(options_.faults, kMessageHalfway, peer(me_));
    Transfers* last = nullptr;
    for (std::size_t i = 1; i < n && ours.count != 0; ++i) {
      const std::size_t m = (me + i) % n;
      if (!wants(m)) continue;
      sent.send(peer(static_cast<int>(m)), id(op, from_owner(k)), {place, ours.count * element});
      last = &sent;
    }
    // The scratch buffer is reused for the next chunk, so sending this one must be complete.
    if (op.output == nullptr && last != nullptr) {
      co_await until([&] { return sent.all_done(); });
    }
    if (k + kAhead < chunks) begin(k + kAhead);
  }
  co_await until([&] { return sent.all_done() && results.all_done(); });
}

}  // namespace trireme::comm
