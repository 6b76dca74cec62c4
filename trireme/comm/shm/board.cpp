#include "trireme/comm/shm/board.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <vector>

#include "trireme/cluster/rank_names.h"
#include "trireme/comm/shm/lanes.h"

namespace trireme::comm::shm {
namespace {

std::string seconds_text(std::uint64_t nanoseconds) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f s", static_cast<double>(nanoseconds) * 1e-9);
  return text;
}

// The operation that the user called, if this is a part of it.
OpKind called_kind(const OpRequest& request) {
  return request.part_of == OpKind::None ? request.kind : request.part_of;
}

std::string describe(const BoardRow& row) {
  const auto phase = static_cast<Phase>(row.phase.load());
  if (phase == Phase::Outside) return "it has not begun any operation of this group";
  char label[sizeof(row.label)];
  for (std::size_t i = 0; i < row.label.size(); ++i) {
    const std::uint64_t word = row.label[i].load();
    std::memcpy(label + 8 * i, &word, 8);
  }
  label[sizeof(label) - 1] = '\0';
  std::string text = "it is inside ";
  if (phase == Phase::Moving) text = "it moves data in ";
  if (phase == Phase::Finished) text = "it finished ";
  text += name_of(static_cast<OpKind>(row.kind.load()));
  // Sends and receives have no sequence number.
  if (row.sequence.load() != 0) text += " #" + std::to_string(row.sequence.load());
  if (label[0] != '\0') text += " (" + std::string(label) + ")";
  const std::uint64_t since = row.since.load();
  const std::uint64_t now = now_ns();
  const std::string elapsed = seconds_text(now > since ? now - since : 0);
  return phase == Phase::Finished ? text + " " + elapsed + " ago" : text + " since " + elapsed;
}

// An ordered sum has two sequence numbers, one per exchange. A missing rank is missing in the first
// exchange that this rank has not finished.
std::uint64_t awaited_in(const Lanes& lanes, const Operation& op) {
  const bool has_two = op.request.kind == OpKind::OrderedSum;
  const bool is_second = has_two && lanes.has_finished(lanes.me(), op.sequence);
  return op.sequence + (is_second ? 1 : 0);
}

bool has_entered(const Lanes& lanes, int member, std::uint64_t sequence) {
  return lanes.slot(member, sequence).entered.load() >= Lanes::stage_word(sequence, 1);
}

}  // namespace

void note(const Lanes& lanes, const Operation& op, Phase phase) noexcept {
  BoardRow& row = lanes.row(lanes.me());
  constexpr auto relaxed = std::memory_order_relaxed;
  // Writes the whole row every time: with several operations in flight, the one that finishes is
  // not always the one that entered last.
  char text[sizeof(row.label)] = {};
  std::memcpy(text, op.label.data(), std::min(op.label.size(), sizeof(text) - 1));
  for (std::size_t i = 0; i < row.label.size(); ++i) {
    std::uint64_t word;
    std::memcpy(&word, text + 8 * i, 8);
    row.label[i].store(word, relaxed);
  }
  row.kind.store(static_cast<std::uint32_t>(called_kind(op.request)), relaxed);
  row.sequence.store(op.sequence, relaxed);
  row.phase.store(static_cast<std::uint32_t>(phase), relaxed);
  row.since.store(now_ns(), relaxed);
}

std::optional<int> first_absent(const Lanes& lanes, const Operation& op) {
  const std::uint64_t sequence = awaited_in(lanes, op);
  for (int m = 0; m < lanes.size(); ++m) {
    if (m == lanes.me() || lanes.has_finished(m, sequence) || lanes.exposure().has_closed(m))
      continue;
    if (!has_entered(lanes, m, sequence)) return lanes.job_rank(m);
  }
  return std::nullopt;
}

std::string describe_missing(const Lanes& lanes, const Operation& op) {
  const std::uint64_t sequence = awaited_in(lanes, op);
  std::string absent, slow, closed;
  std::vector<int> waiting{lanes.job_rank(lanes.me())};
  for (int m = 0; m < lanes.size(); ++m) {
    if (m == lanes.me() || lanes.has_finished(m, sequence)) continue;
    const bool is_inside = has_entered(lanes, m, sequence);
    std::string& text = lanes.exposure().has_closed(m) ? closed : is_inside ? slow : absent;
    if (!text.empty()) text += "; ";
    text += "rank " + std::to_string(lanes.job_rank(m));
    if (lanes.exposure().has_closed(m)) {
      text += " gave up on the group";
      continue;
    }
    if (is_inside) {
      waiting.push_back(lanes.job_rank(m));
      text += " entered " + op.name() + " and did not finish it";
    } else {
      const bool is_second = sequence != op.sequence;
      text += (is_second ? " never entered the second half of " : " never entered ") + op.name();
    }
    text += " (" + describe(lanes.row(m)) + ")";
  }
  // A member that gave up may have waited just as long for the same rank; it is named after those
  // that are still inside the operation.
  if (!closed.empty() && absent.empty()) slow += (slow.empty() ? "" : "; ") + closed;
  // If all have entered, it is not known which rank delays the others.
  if (absent.empty()) waiting = {lanes.job_rank(lanes.me())};
  std::sort(waiting.begin(), waiting.end());
  if (absent.empty() && slow.empty()) slow = "every rank entered " + op.name();
  return (absent.empty() ? slow : absent) + "; " + cluster::name_ranks(waiting);
}

}  // namespace trireme::comm::shm
