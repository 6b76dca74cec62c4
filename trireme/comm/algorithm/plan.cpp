#include "trireme/comm/algorithm/plan.h"

namespace trireme::comm {
namespace {

std::vector<std::size_t> even(std::size_t count, int size) {
  return std::vector<std::size_t>(static_cast<std::size_t>(size), count);
}

}  // namespace

Plan::Plan(const Operation& op, int size) : op_(op), size_(size) {
  const OpKind kind = op.request.kind;
  // Reductions and barriers use only exposed(), so they need no allocations.
  if (kind == OpKind::AllReduce || kind == OpKind::Reduce || kind == OpKind::Barrier) return;
  is_shared_ = kind == OpKind::Broadcast || kind == OpKind::AllGather || kind == OpKind::Gather;
  offsets_ = offsets_of(op.counts.empty() ? even(op.request.count, size) : op.counts);
  if (kind == OpKind::AllToAll) {
    send_offsets_ =
        offsets_of(op.send_counts.empty() ? even(op.request.count, size) : op.send_counts);
  }
}

bool Plan::reads(int reader, int from) const noexcept {
  switch (op_.request.kind) {
    case OpKind::Broadcast:
      return from == op_.request.root && reader != from;
    case OpKind::Scatter:
      return from == op_.request.root;
    case OpKind::Gather:
      return reader == op_.request.root;
    default:
      return true;
  }
}

MemberSlice Plan::block(int reader, int from, int me) const noexcept {
  if (!reads(reader, from)) return {};
  const auto r = static_cast<std::size_t>(reader);
  switch (op_.request.kind) {
    case OpKind::Broadcast:
      return {0, op_.request.count};
    case OpKind::AllGather:
    case OpKind::Gather:
      return {0, op_.count_of(from)};
    case OpKind::Scatter:
    case OpKind::ReduceScatter:
      return {offsets_[r], op_.count_of(reader)};
    case OpKind::AllToAll:
      if (from == me) return {send_offsets_[r], send_offsets_[r + 1] - send_offsets_[r]};
      return {0, op_.count_of(from)};
    default:
      return {};
  }
}

std::size_t Plan::target(int from) const noexcept {
  switch (op_.request.kind) {
    case OpKind::AllGather:
    case OpKind::Gather:
    case OpKind::AllToAll:
      return offsets_[static_cast<std::size_t>(from)];
    default:
      return 0;
  }
}

std::size_t Plan::exposed(int member) const noexcept {
  switch (op_.request.kind) {
    case OpKind::Broadcast:
      return member == op_.request.root ? op_.request.count : 0;
    case OpKind::Scatter:
      return member == op_.request.root ? offsets_.back() : 0;
    case OpKind::ReduceScatter:
      return offsets_.back();
    case OpKind::AllToAll:
      return send_offsets_.back();
    default:
      return op_.count_of(member);
  }
}

}  // namespace trireme::comm
