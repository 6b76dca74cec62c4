// The two all_reduce algorithms with partners at distances 1, 2, 4, ...
//
// Recursive doubling: partners exchange whole vectors and both add. log2 n steps; log2 n times the
// data, so it suits small data. Halving and doubling: partners exchange the half that the other
// will own, then gather the halves back. 2 log2 n steps; 2 (n-1)/n of the data.
//
// If n is not a power of two, the ranks beyond the largest power of two first send their data to a
// partner below it and receive the result at the end: two more steps and twice the data for those
// pairs.

#include <algorithm>
#include <bit>

#include "trireme/comm/algorithm/message_backend.h"
#include "trireme/comm/algorithm/strides.h"

namespace trireme::comm {
namespace {

constexpr std::uint32_t kFoldIn = 1;
constexpr std::uint32_t kFoldOut = 2;
constexpr std::uint32_t kSteps = 3;
// Channels per step: a vector is cut into at most this many chunks.
constexpr std::uint32_t kStepWidth = 1u << 20;

// Send or receive all chunks of one memory range, to or from one peer.
void send_run(Transfers& transfers, int peer, MessageId id, ByteView data) {
  for (std::size_t done = 0; done < data.size(); done += kChunkSize, ++id.channel) {
    transfers.send(peer, id, data.subspan(done, std::min(kChunkSize, data.size() - done)));
  }
}

void receive_run(Transfers& transfers, int peer, MessageId id, std::span<std::byte> data) {
  for (std::size_t done = 0; done < data.size(); done += kChunkSize, ++id.channel) {
    transfers.receive(peer, id, data.subspan(done, std::min(kChunkSize, data.size() - done)));
  }
}

constexpr std::uint32_t step_channel(std::uint32_t step) {
  return 1 + step * kStepWidth;
}

// The lower rank comes first, so that both partners add in the same order.
Task add(const Operation& op, ReduceOp how, std::size_t n, bool is_lower, std::byte* own,
         const std::byte* other, std::size_t count) {
  return combine_in_strides({op.request.type, how, n}, is_lower ? own : other,
                            is_lower ? other : own, own, count);
}

}  // namespace

Task MessageBackend::recursive_doubling(const Operation& op) {
  const std::size_t element = op.element_size();
  const std::size_t whole = op.request.count * element;
  const int core = static_cast<int>(std::bit_floor(static_cast<unsigned>(size())));
  const ReduceOp how = op.request.reduce == ReduceOp::Mean ? ReduceOp::Sum : op.request.reduce;
  const auto n = static_cast<std::size_t>(size());
  Bytes other(whole);
  if (me_ >= core) {
    Transfers fold(*messenger_);
    send_run(fold, peer(me_ - core), id(op, step_channel(kFoldIn)), {op.input, whole});
    co_await until([&] { return fold.all_done(); });
    receive_run(fold, peer(me_ - core), id(op, step_channel(kFoldOut)), {op.output, whole});
    co_await until([&] { return fold.all_done(); });
    co_return;
  }
  if (me_ + core < size()) {
    Transfers fold(*messenger_);
    receive_run(fold, peer(me_ + core), id(op, step_channel(kFoldIn)), other);
    co_await until([&] { return fold.all_done(); });
    co_await add(op, how, n, true, op.output, other.data(), op.request.count);
  }
  std::uint32_t step = kSteps;
  for (int distance = 1; distance < core; distance *= 2, ++step) {
    const int partner = me_ ^ distance;
    Transfers swap(*messenger_);
    receive_run(swap, peer(partner), id(op, step_channel(step)), other);
    send_run(swap, peer(partner), id(op, step_channel(step)), {op.output, whole});
    co_await until([&] { return swap.all_done(); });
    co_await add(op, how, n, me_ < partner, op.output, other.data(), op.request.count);
    if (distance == 1) reach(options_.faults, kMessageHalfway, peer(me_));
  }
  if (op.request.reduce == ReduceOp::Mean) {
    co_await combine_in_strides({op.request.type, ReduceOp::Mean, n}, op.output, nullptr, op.output,
                                op.request.count);
  }
  if (me_ + core < size()) {
    Transfers fold(*messenger_);
    send_run(fold, peer(me_ + core), id(op, step_channel(kFoldOut)), {op.output, whole});
    co_await until([&] { return fold.all_done(); });
  }
}

Task MessageBackend::halving_doubling(const Operation& op) {
  const std::size_t element = op.element_size();
  const std::size_t whole = op.request.count * element;
  const int core = static_cast<int>(std::bit_floor(static_cast<unsigned>(size())));
  const ReduceOp how = op.request.reduce == ReduceOp::Mean ? ReduceOp::Sum : op.request.reduce;
  const auto n = static_cast<std::size_t>(size());
  Bytes other(whole);
  Transfers fold(*messenger_);
  if (me_ >= core) {
    send_run(fold, peer(me_ - core), id(op, step_channel(kFoldIn)), {op.input, whole});
    co_await until([&] { return fold.all_done(); });
    receive_run(fold, peer(me_ - core), id(op, step_channel(kFoldOut)), {op.output, whole});
    co_await until([&] { return fold.all_done(); });
    co_return;
  }
  if (me_ + core < size()) {
    receive_run(fold, peer(me_ + core), id(op, step_channel(kFoldIn)), other);
    co_await until([&] { return fold.all_done(); });
    co_await add(op, how, n, true, op.output, other.data(), op.request.count);
  }
  // The range that this rank still has to complete. It is halved in each step; all ranges are
  // recorded.
  std::vector<std::pair<MemberSlice, MemberSlice>> kept_and_given;
  MemberSlice range{0, op.request.count};
  std::uint32_t step = kSteps;
  for (int distance = core / 2; distance >= 1; distance /= 2, ++step) {
    const int partner = me_ ^ distance;
    const std::size_t half = range.count / 2;
    const MemberSlice low{range.first, half};
    const MemberSlice high{range.first + half, range.count - half};
    const bool is_lower = me_ < partner;
    const MemberSlice keep = is_lower ? low : high;
    const MemberSlice give = is_lower ? high : low;
    Transfers swap(*messenger_);
    receive_run(swap, peer(partner), id(op, step_channel(step)),
                {other.data(), keep.count * element});
    send_run(swap, peer(partner), id(op, step_channel(step)),
             {op.output + give.first * element, give.count * element});
    co_await until([&] { return swap.all_done(); });
    co_await add(op, how, n, is_lower, op.output + keep.first * element, other.data(), keep.count);
    if (kept_and_given.empty()) reach(options_.faults, kMessageHalfway, peer(me_));
    kept_and_given.push_back({keep, give});
    range = keep;
  }
  if (op.request.reduce == ReduceOp::Mean) {
    std::byte* mine = op.output + range.first * element;
    co_await combine_in_strides({op.request.type, ReduceOp::Mean, n}, mine, nullptr, mine,
                                range.count);
  }
  for (int distance = 1; distance < core; distance *= 2, ++step) {
    const int partner = me_ ^ distance;
    const auto [keep, give] = kept_and_given.back();
    kept_and_given.pop_back();
    Transfers swap(*messenger_);
    receive_run(swap, peer(partner), id(op, step_channel(step)),
                {op.output + give.first * element, give.count * element});
    send_run(swap, peer(partner), id(op, step_channel(step)),
             {op.output + keep.first * element, keep.count * element});
    co_await until([&] { return swap.all_done(); });
  }
  if (me_ + core < size()) {
    send_run(fold, peer(me_ + core), id(op, step_channel(kFoldOut)), {op.output, whole});
    co_await until([&] { return fold.all_done(); });
  }
}

}  // namespace trireme::comm
