// The collectives of SharedBackend: how members enter, compare requests and leave, and the reads
// that move the data. all_reduce and reduce are in all_reduce.cpp.

#include <algorithm>
#include <cstring>

#include "trireme/comm/kernel/combine.h"
#include "trireme/comm/shm/backend.h"
#include "trireme/comm/shm/board.h"

namespace trireme::comm::shm {
namespace {

// Long copies yield after this many bytes, so that an abort is noticed within a millisecond.
constexpr std::size_t kCopyStride = std::size_t{1} << 20;

// Every member compares all requests with the first, so that all members name the same two ranks.
void check_requests(const Lanes& lanes, const Operation& op) {
  const OpRequest& first = lanes.slot(0, op.sequence).request;
  for (int m = 1; m < lanes.size(); ++m) {
    const OpRequest& other = lanes.slot(m, op.sequence).request;
    if (other == first) continue;
    throw Error(ErrorCode::Mismatch,
                "operation #" + std::to_string(op.sequence) + ": rank " +
                    std::to_string(lanes.job_rank(0)) + " asked for " + first.to_text() +
                    ", rank " + std::to_string(lanes.job_rank(m)) + " for " + other.to_text())
        .with_peer(lanes.job_rank(m));
  }
}

void check_send_count(const Lanes& lanes, const Operation& op, int from) {
  const auto* blocks = reinterpret_cast<const MemberSlice*>(lanes.eager(from, op.sequence));
  const std::size_t sent = blocks[lanes.me()].count;
  if (sent == op.count_of(from)) return;
  throw Error(ErrorCode::Mismatch, "rank " + std::to_string(lanes.job_rank(from)) + " sends " +
                                       std::to_string(sent) + " elements to rank " +
                                       std::to_string(lanes.job_rank(lanes.me())) +
                                       ", which expects " + std::to_string(op.count_of(from)))
      .with_peer(lanes.job_rank(from));
}

bool fits_lane(const Operation& op, int members) {
  const OpKind kind = op.request.kind;
  if (kind == OpKind::Barrier || kind == OpKind::AllToAll) return false;
  if (op.reduces_all()) return op.request.count * op.element_size() <= kEagerSize;
  const Plan plan(op, members);
  std::size_t largest = 0;
  for (int m = 0; m < members; ++m) largest = std::max(largest, plan.exposed(m));
  return largest * op.element_size() <= kEagerSize;
}

const std::byte* exposed_at(const Lanes& lanes, const Operation& op, int member, bool is_eager) {
  if (is_eager) return lanes.eager(member, op.sequence);
  return lanes.arena().at(lanes.slot(member, op.sequence).input_offset);
}

// The block that this rank reads from `from`'s input.
MemberSlice block_at(const Lanes& lanes, const Operation& op, const Plan& plan, int from) {
  if (op.request.kind == OpKind::AllToAll) {
    return reinterpret_cast<const MemberSlice*>(lanes.eager(from, op.sequence))[lanes.me()];
  }
  return plan.block(lanes.me(), from, lanes.me());
}

}  // namespace

Task SharedBackend::collective(const Operation& op) {
  pass(kBeforeEnter);
  if (op.sequence > kInFlight) {
    co_await until([&] { return lanes_.everyone(&Slot::finished, op.sequence - kInFlight, 1); });
  }
  const bool is_eager = fits_lane(op, size());
  enter(op, is_eager);
  pass(kEntered);
  co_await until([&] { return lanes_.everyone(&Slot::entered, op.sequence, 1); });
  check_requests(lanes_, op);
  if (!is_eager) note(lanes_, op, Phase::Moving);
  if (op.reduces_all()) {
    co_await all_reduce(op, is_eager);
  } else if (op.request.kind != OpKind::Barrier) {
    co_await exchange(op, is_eager);
  }
  pass(kBeforeFinish);
  finish(op);
}

void SharedBackend::enter(const Operation& op, bool is_eager) {
  const Plan plan(op, size());
  Arena& arena = lanes_.arena();
  Slot& slot = mine(op);
  const std::size_t input_size = plan.exposed(rank()) * op.element_size();
  slot.request = op.request;
  slot.input_offset = arena.contains(op.input, input_size) ? arena.offset_of(op.input) : kPrivate;
  slot.output_offset = arena.contains(op.output, 1) ? arena.offset_of(op.output) : kPrivate;
  if (!is_eager && slot.input_offset != kPrivate) lanes_.exposure().add(op.input, input_size);
  if (!is_eager && slot.output_offset != kPrivate && op.output != op.input) {
    lanes_.exposure().add(op.output, op.request.count * op.element_size());
  }
  slot.rounds = 0;
  std::byte* eager = lanes_.eager(rank(), op.sequence);
  if (is_eager && input_size != 0) std::memcpy(eager, op.input, input_size);
  if (op.request.kind == OpKind::AllToAll) {
    // Readers cannot compute where their block is in this input, so it is published.
    auto* blocks = reinterpret_cast<MemberSlice*>(eager);
    for (int reader = 0; reader < size(); ++reader) {
      blocks[reader] = plan.block(reader, rank(), rank());
      slot.rounds = std::max<std::uint64_t>(slot.rounds, blocks[reader].count);
    }
  }
  note(lanes_, op, Phase::Entered);
  lanes_.publish(slot.entered, Lanes::stage_word(op.sequence, 1));
}

void SharedBackend::finish(const Operation& op) {
  unfinished_.erase(op.sequence);
  lanes_.exposure().remove(op.input);
  if (op.output != op.input) lanes_.exposure().remove(op.output);
  note(lanes_, op, Phase::Finished);
  lanes_.publish(mine(op).finished, Lanes::stage_word(op.sequence, 1));
}

bool SharedBackend::is_direct(const Operation& op) const {
  const Plan plan(op, size());
  const OpKind kind = op.request.kind;
  for (int m = 0; m < size(); ++m) {
    const Slot& slot = lanes_.slot(m, op.sequence);
    const bool is_read = kind == OpKind::AllToAll || plan.exposed(m) != 0;
    if (is_read && slot.input_offset == kPrivate) return false;
    const bool is_written =
        kind == OpKind::AllReduce || (kind == OpKind::Reduce && m == op.request.root);
    if (is_written && slot.output_offset == kPrivate) return false;
  }
  return true;
}

// Gather, scatter, broadcast, all_gather, all_to_all, reduce_scatter: reads of other members'
// blocks.
Task SharedBackend::exchange(const Operation& op, bool is_eager) {
  const Plan plan(op, size());
  if (op.request.kind == OpKind::AllToAll) {
    for (int from = 0; from < size(); ++from) check_send_count(lanes_, op, from);
  }
  if (!is_eager && !is_direct(op)) {
    co_await exchange_staged(op);
    co_return;
  }
  const std::size_t element = op.element_size();
  // Data in the lanes belongs to no caller, so it can be read outside a stride. If a member gives
  // up, its own error or the deadline ends the operation here too.
  const auto read = [&](auto&& touch) {
    if (!is_eager) return stride(touch);
    touch();
    return true;
  };
  if (plan.reduces()) {
    const MemberSlice block = plan.block(rank(), rank(), rank());
    std::vector<const void*> sources(static_cast<std::size_t>(size()));
    const std::size_t step = kCopyStride / element;
    for (std::size_t done = 0; done < block.count; done += step) {
      for (int m = 0; m < size(); ++m) {
        sources[static_cast<std::size_t>(m)] =
            exposed_at(lanes_, op, m, is_eager) + (block.first + done) * element;
      }
      void* out = op.output + done * element;
      const bool is_sound = read([&] {
        combine({op.request.type, op.request.reduce, static_cast<std::size_t>(size())}, sources,
                {&out, 1}, std::min(step, block.count - done));
      });
      if (!is_sound) co_await until([] { return false; });
      if (block.count > step) co_await GiveWay{};
    }
  }
  for (int i = 0; i < size() && !plan.reduces(); ++i) {
    // Each member begins with a different member, so that not all of them read the same memory at
    // once.
    const int from = (rank() + i) % size();
    const MemberSlice block = block_at(lanes_, op, plan, from);
    const std::byte* source = exposed_at(lanes_, op, from, is_eager) + block.first * element;
    std::byte* target = op.output + plan.target(from) * element;
    const std::size_t bytes = block.count * element;
    if (bytes == 0 || source == target) continue;
    for (std::size_t done = 0; done < bytes; done += kCopyStride) {
      const bool is_sound = read(
          [&] { std::memcpy(target + done, source + done, std::min(kCopyStride, bytes - done)); });
      if (!is_sound) co_await until([] { return false; });
      if (bytes > kCopyStride) co_await GiveWay{};
    }
  }
  pass(kHalfway);
  if (is_eager) co_return;  // the lane is not reused before every member has finished
  lanes_.publish(mine(op).consumed, Lanes::stage_word(op.sequence, 1));
  co_await until([&] { return lanes_.everyone(&Slot::consumed, op.sequence, 1); });
}

// The same through the windows. In round t every member stages the t-th piece of each of its
// blocks; readers copy their pieces, and a window is filled again when every member has read it.
Task SharedBackend::exchange_staged(const Operation& op) {
  while (!lanes_.open_windows()) co_await GiveWay{};
  co_await until([&] { return is_oldest(op); });
  const Plan plan(op, size());
  const std::size_t element = op.element_size();
  const auto blocks = static_cast<std::size_t>(plan.is_shared() ? 1 : size());
  const std::size_t piece = kWindowSize / blocks / 64 * 64 / element;
  std::size_t longest = 0;
  for (int from = 0; from < size(); ++from) {
    longest = std::max(longest, lanes_.slot(from, op.sequence).rounds);
    for (int reader = 0; reader < size(); ++reader) {
      if (op.request.kind == OpKind::AllToAll) continue;  // `rounds` contains it
      longest = std::max(longest, plan.block(reader, from, rank()).count);
    }
  }
  const auto rounds = static_cast<std::uint32_t>((longest + piece - 1) / piece);
  if (rounds == 0) co_return;  // an all_to_all without data, which every member detects
  const auto piece_of = [&](MemberSlice block, std::uint32_t round) {
    const std::size_t first = std::min(block.count, round * piece);
    return MemberSlice{block.first + first, std::min(piece, block.count - first)};
  };

  const auto produce = [&](std::uint32_t round) {
    std::byte* window = lanes_.staged(rank(), round);
    for (std::size_t b = 0; b < blocks; ++b) {
      int reader = static_cast<int>(b);
      if (plan.is_shared()) reader = op.request.kind == OpKind::Gather ? op.request.root : rank();
      if (op.request.kind == OpKind::Broadcast) reader = (rank() + 1) % size();
      const MemberSlice part = piece_of(plan.block(reader, rank(), rank()), round);
      if (part.count == 0) continue;
      std::memcpy(window + b * piece * element, op.input + part.first * element,
                  part.count * element);
    }
  };
  const auto consume = [&](std::uint32_t round) {
    std::vector<const void*> sources;
    for (int from = 0; from < size(); ++from) {
      const MemberSlice block = plan.block(rank(), from, rank());
      const MemberSlice part = piece_of(block, round);
      const std::size_t place = plan.is_shared() ? 0 : static_cast<std::size_t>(rank());
      const std::byte* source = lanes_.staged(from, round) + place * piece * element;
      if (plan.reduces()) {
        sources.push_back(source);
      } else if (part.count != 0) {
        const std::size_t target = plan.target(from) + part.first - block.first;
        std::memcpy(op.output + target * element, source, part.count * element);
      }
    }
    if (!plan.reduces()) return;
    const MemberSlice block = plan.block(rank(), rank(), rank());
    const MemberSlice part = piece_of(block, round);
    void* out = op.output + (part.first - block.first) * element;
    combine({op.request.type, op.request.reduce, sources.size()}, sources, {&out, 1}, part.count);
  };

  Slot& slot = mine(op);
  std::uint32_t produced = 0, consumed = 0;
  const auto can_produce = [&] {
    return produced < rounds && lanes_.least(&Slot::consumed, op.sequence) + kWindows > produced;
  };
  const auto can_consume = [&] {
    return lanes_.everyone(&Slot::produced, op.sequence, consumed + 1);
  };
  while (consumed < rounds) {
    if (can_produce()) {
      produce(produced++);
      lanes_.publish(slot.produced, Lanes::stage_word(op.sequence, produced));
    } else if (can_consume()) {
      consume(consumed++);
      if (consumed == 1) pass(kHalfway);
      lanes_.publish(slot.consumed, Lanes::stage_word(op.sequence, consumed));
      co_await GiveWay{};
    } else {
      // Either may become possible first: this rank's own window is needed for the next round too.
      co_await until([&] { return can_produce() || can_consume(); });
    }
  }
  co_await until([&] { return lanes_.everyone(&Slot::consumed, op.sequence, rounds); });
}

}  // namespace trireme::comm::shm
