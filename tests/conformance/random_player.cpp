#include "tests/conformance/random_player.h"

namespace trireme::comm::conformance {

void Player::start() {
  running_.buffers.reserve(3);
  switch (step_.kind) {
    case OpKind::AllReduce:
    case OpKind::Reduce:
    case OpKind::ReduceScatter:
      running_.work = start_reduction();
      break;
    case OpKind::OrderedSum:
      running_.work = start_ordered_sum();
      break;
    default:
      running_.work = start_move();
      break;
  }
}

Work Player::start_reduction() {
  if (step_.kind == OpKind::ReduceScatter) {
    Buffer& in = add(first(n()));
    in.write(input(me()));
    Buffer& out = add(step_.counts[me()]);
    if (!step_.is_uneven) return group_.reduce_scatter(out.span(), in.span(), step_.op, call());
    return group_.reduce_scatter(out.span(), in.span(), step_.counts, step_.op, call());
  }
  Buffer& data = add(step_.counts[0]);
  data.write(input(me()));
  if (step_.kind == OpKind::Reduce) {
    return group_.reduce(data.span(), step_.op, step_.root, call());
  }
  if (!step_.is_uneven) return group_.all_reduce(data.span(), step_.op, call());
  const std::size_t half = step_.counts[0] / 2;
  running_.spans = {data.part(0, half), data.part(half, step_.counts[0] - half)};
  return group_.all_reduce(running_.spans, step_.op, call());
}

Work Player::start_move() {
  const std::size_t total = first(n());
  if (step_.kind == OpKind::Barrier) return group_.barrier(call());
  if (step_.kind == OpKind::Broadcast || step_.kind == OpKind::Send) {
    Buffer& data = add(step_.counts[0]);
    data.write(input(me()));
    if (step_.kind == OpKind::Broadcast) return group_.broadcast(data.span(), step_.root, call());
    const auto tag = static_cast<std::uint32_t>(step_.salt % 3);
    if (is_root()) return group_.send(data.span(), step_.receiver, tag, call());
    if (group_.rank() == step_.receiver) {
      return group_.receive(data.span(), step_.root, tag, call());
    }
    return {};
  }
  if (step_.kind == OpKind::AllToAll) {
    const std::vector<std::size_t> sent(n(), step_.counts[me()]);
    Buffer& in = add(sent[0] * n());
    in.write(input(me()));
    Buffer& out = add(total);
    return group_.all_to_all(out.span(), step_.counts, in.span(), sent, call());
  }
  Buffer& whole = add(total);
  Buffer& piece = add(step_.counts[me()]);
  if (step_.kind == OpKind::Scatter) {
    whole.write(input(me()));
    const ConstSpan in = is_root() ? ConstSpan(whole.span()) : ConstSpan();
    return group_.scatter(piece.span(), in, step_.counts, step_.root, call());
  }
  piece.write(input(me()));
  if (step_.kind == OpKind::AllGather) {
    return group_.all_gather(whole.span(), piece.span(), step_.counts, call());
  }
  return group_.gather(is_root() ? whole.span() : Span(), piece.span(), step_.counts, step_.root,
                       call());
}

// One slot per member, assigned in reverse order.
Work Player::start_ordered_sum() {
  Buffer& data = add(step_.counts[0]);
  data.write(input(me()));
  Buffer& out = add(step_.counts[0]);
  std::vector<int> owners(n());
  std::iota(owners.rbegin(), owners.rend(), 0);
  running_.shares = {{static_cast<int>(n() - 1 - me()), data.span()}};
  return group_.ordered_sum(out.span(), running_.shares, owners, ReduceOp::Sum, call());
}

void Player::expect(const Cycle& cycle, const Buffer& out, std::size_t at, std::size_t from,
                    std::size_t count, Report& report) const {
  const std::string difference = cycle.difference(out.at(at), from, count);
  if (!difference.empty()) report.fail(step_.to_text() + ": " + difference);
  out.expect_guards(step_.to_text(), report);
}

// Compares this rank's memory with the model.
void Player::check(Report& report) const {
  const auto& buffers = running_.buffers;
  const std::size_t count = step_.counts[0], mine = step_.counts[me()];
  const auto root = static_cast<std::size_t>(step_.root);
  switch (step_.kind) {
    case OpKind::AllReduce:
      return expect(result(), buffers[0], 0, 0, count, report);
    case OpKind::Reduce:
      return expect(is_root() ? result() : input(me()), buffers[0], 0, 0, count, report);
    case OpKind::ReduceScatter:
      return expect(result(), buffers[1], 0, first(me()), mine, report);
    case OpKind::OrderedSum:
      return expect(result(), buffers[1], 0, 0, count, report);
    case OpKind::Broadcast:
      return expect(input(root), buffers[0], 0, 0, count, report);
    case OpKind::Send: {
      const bool has_received = group_.rank() == step_.receiver;
      return expect(input(has_received ? root : me()), buffers[0], 0, 0, count, report);
    }
    case OpKind::Scatter:
      return expect(input(root), buffers[1], 0, first(me()), mine, report);
    case OpKind::AllToAll:
      for (std::size_t m = 0; m < n(); ++m) {
        expect(input(m), buffers[1], first(m), step_.counts[m] * me(), step_.counts[m], report);
      }
      return;
    case OpKind::AllGather:
    case OpKind::Gather:
      for (std::size_t m = 0; m < n() && (step_.kind == OpKind::AllGather || is_root()); ++m) {
        expect(input(m), buffers[0], first(m), 0, step_.counts[m], report);
      }
      return;
    default:
      return;
  }
}

}  // namespace trireme::comm::conformance
