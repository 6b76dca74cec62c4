// all_reduce and reduce of SharedBackend: every member combines one slice of all members' data.

#include <algorithm>
#include <cstring>
#include <utility>

#include "trireme/comm/kernel/combine.h"
#include "trireme/comm/shm/backend.h"

namespace trireme::comm::shm {
namespace {

// One stride of every member's data stays in the second-level cache while it is combined.
constexpr std::size_t kReduceStride = std::size_t{512} << 10;
// Size of the parts combined at once: small enough that reversing the direction at the end pays
// off.
constexpr std::size_t kReduceChunk = std::size_t{32} << 10;

// Where the k-th step through `count` begins, from either end.
std::size_t step_begin(std::size_t k, std::size_t count, std::size_t step, bool is_backward) {
  const std::size_t steps = (count + step - 1) / step;
  return (is_backward ? steps - 1 - k : k) * step;
}

void combine_direct(const Lanes& lanes, const Operation& op, const MemberSlice& part,
                    bool is_backward) {
  const std::size_t element = op.element_size();
  const std::size_t step = kReduceChunk / element;
  const auto n = static_cast<std::size_t>(lanes.size());
  std::vector<const void*> sources(n);
  std::vector<void*> destinations;
  for (std::size_t k = 0; k * step < part.count; ++k) {
    const std::size_t begin = step_begin(k, part.count, step, is_backward);
    const std::size_t offset = (part.first + begin) * element;
    destinations.clear();
    for (int m = 0; m < lanes.size(); ++m) {
      const Slot& slot = lanes.slot(m, op.sequence);
      sources[static_cast<std::size_t>(m)] = lanes.arena().at(slot.input_offset) + offset;
      if (op.request.kind == OpKind::Reduce && m != op.request.root) continue;
      destinations.push_back(lanes.arena().at(slot.output_offset) + offset);
    }
    combine({op.request.type, op.request.reduce, n}, sources, destinations,
            std::min(step, part.count - begin));
  }
}

// Every second operation runs from the end to the beginning: if the same spans are used again, the
// cache contains the part that the previous operation accessed last.
void combine_stride(const Lanes& lanes, const Operation& op, const MemberSlice& slice,
                    std::size_t k) {
  const bool is_backward = op.sequence % 2 == 1;
  const std::size_t step = kReduceStride / op.element_size();
  const std::size_t begin = step_begin(k, slice.count, step, is_backward);
  combine_direct(lanes, op, {slice.first + begin, std::min(step, slice.count - begin)},
                 is_backward);
}

}  // namespace

Task SharedBackend::all_reduce(const Operation& op, bool is_eager) {
  const bool wants = op.request.kind == OpKind::AllReduce || rank() == op.request.root;
  if (!is_eager) {
    if (is_direct(op))
      co_await all_reduce_direct(op);
    else
      co_await all_reduce_staged(op);
    co_return;
  }
  // The data is so small that every member combines all of it by itself: one exchange instead of
  // two.
  if (!wants) co_return;
  std::vector<const void*> sources;
  for (int m = 0; m < size(); ++m) sources.push_back(lanes_.eager(m, op.sequence));
  void* out = op.output;
  combine({op.request.type, op.request.reduce, sources.size()}, sources, {&out, 1},
          op.request.count);
  pass(kHalfway);
}

// In place, without a copy: this rank reads its slice of every member's span and writes the result
// into every member's span, stride by stride. When it is done, it helps members that are behind,
// because all members wait for the straggler. The result does not depend on which member combines a
// stride.
Task SharedBackend::all_reduce_direct(const Operation& op) {
  bool is_first = true;
  for (int helped = 0; helped < size(); ++helped) {
    const int owner = (rank() + helped) % size();
    const std::size_t element = op.element_size();
    const MemberSlice slice = slice_of(op.request.count, static_cast<std::size_t>(size()),
                                       static_cast<std::size_t>(owner), line_grain(element));
    const std::size_t step = kReduceStride / element;
    const std::size_t strides = (slice.count + step - 1) / step;
    while (const auto k = lanes_.claim(owner, op.sequence, strides)) {
      const bool is_sound = stride([&] { combine_stride(lanes_, op, slice, *k); });
      // The error of the other member, or the deadline, ends this operation.
      if (!is_sound) co_await until([] { return false; });
      if (std::exchange(is_first, false)) pass(kHalfway);
      if (strides > 1) co_await GiveWay{};
    }
  }
  lanes_.publish(mine(op).reduced, Lanes::stage_word(op.sequence, 1));
  co_await until([&] { return lanes_.everyone(&Slot::reduced, op.sequence, 1); });
}

// Copies through the windows, as a pipeline of three stages over pieces of the data:
//   produce  copy the part of my piece that others will combine into my window,
//   reduce   combine my slice of the piece from all windows, into my output and my result window,
//   consume  copy the other slices of the piece from their result windows into my output.
// Each stage runs at most kWindows pieces ahead of the next.
Task SharedBackend::all_reduce_staged(const Operation& op) {
  while (!lanes_.open_windows()) co_await GiveWay{};
  co_await until([&] { return is_oldest(op); });
  const std::size_t element = op.element_size();
  const auto n = static_cast<std::size_t>(size());
  const auto me = static_cast<std::size_t>(rank());
  const std::size_t piece = kWindowSize / element;
  const auto rounds = static_cast<std::uint32_t>((op.request.count + piece - 1) / piece);
  const bool wants = op.request.kind == OpKind::AllReduce || rank() == op.request.root;
  Slot& slot = mine(op);

  const auto piece_count = [&](std::uint32_t round) {
    return std::min(piece, op.request.count - round * piece);
  };
  const auto slice = [&](std::uint32_t round, std::size_t member) {
    return slice_of(piece_count(round), n, member, line_grain(element));
  };
  const auto produce = [&](std::uint32_t round) {
    std::byte* window = lanes_.staged(rank(), round);
    const std::byte* input = op.input + round * piece * element;
    const MemberSlice own = slice(round, me);
    const std::size_t after = own.first + own.count;
    std::memcpy(window, input, own.first * element);
    std::memcpy(window + after * element, input + after * element,
                (piece_count(round) - after) * element);
  };
  std::vector<const void*> sources(n);
  const auto reduce = [&](std::uint32_t round) {
    const MemberSlice own = slice(round, me);
    const std::size_t offset = own.first * element;
    for (int m = 0; m < size(); ++m) {
      sources[static_cast<std::size_t>(m)] = lanes_.staged(m, round) + offset;
    }
    sources[me] = op.input + round * piece * element + offset;
    void* places[2] = {lanes_.result(rank(), round) + offset,
                       op.output + round * piece * element + offset};
    const std::span<void* const> destinations(places, wants ? 2 : 1);
    combine({op.request.type, op.request.reduce, n}, sources, destinations, own.count);
  };
  const auto consume = [&](std::uint32_t round) {
    for (std::size_t m = 0; m < n && wants; ++m) {
      const MemberSlice part = slice(round, m);
      if (m == me || part.count == 0) continue;
      std::memcpy(op.output + (round * piece + part.first) * element,
                  lanes_.result(static_cast<int>(m), round) + part.first * element,
                  part.count * element);
    }
  };

  std::uint32_t produced = 0, reduced = 0, consumed = 0;
  const auto can_consume = [&] {
    return consumed < reduced && lanes_.least(&Slot::reduced, op.sequence) > consumed;
  };
  const auto can_reduce = [&] {
    return reduced < produced && lanes_.least(&Slot::produced, op.sequence) > reduced &&
           lanes_.least(&Slot::consumed, op.sequence) + kWindows > reduced;
  };
  const auto can_produce = [&] {
    return produced < rounds && lanes_.least(&Slot::reduced, op.sequence) + kWindows > produced;
  };
  while (consumed < rounds) {
    if (can_consume()) {
      consume(consumed++);
      lanes_.publish(slot.consumed, Lanes::stage_word(op.sequence, consumed));
      co_await GiveWay{};
    } else if (can_reduce()) {
      reduce(reduced++);
      if (reduced == 1) pass(kHalfway);
      lanes_.publish(slot.reduced, Lanes::stage_word(op.sequence, reduced));
    } else if (can_produce()) {
      produce(produced++);
      lanes_.publish(slot.produced, Lanes::stage_word(op.sequence, produced));
    } else {
      co_await until([&] { return can_consume() || can_reduce() || can_produce(); });
    }
  }
  co_await until([&] { return lanes_.everyone(&Slot::consumed, op.sequence, rounds); });
}

}  // namespace trireme::comm::shm
