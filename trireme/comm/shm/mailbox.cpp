#include "trireme/comm/shm/mailbox.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "trireme/comm/shm/board.h"

namespace trireme::comm::shm {
namespace {

// Reads of the sender's own memory yield after this many bytes.
constexpr std::size_t kMessageStride = std::size_t{1} << 20;
constexpr std::size_t kMarkWords = kLetters / 64;

enum LetterState : std::uint64_t { kFree = 0, kPosted = 1, kTaken = 2 };

// How the data of a letter is transferred.
enum Way : std::uint32_t { kInWindow, kByStream, kInPlace };

std::uint64_t windows_in(std::size_t size) {
  return (size + kLetterWindow - 1) / kLetterWindow;
}

}  // namespace

struct alignas(128) Mailbox::Letter {
  Word state;
  Word filled;   // windows written by the sender
  Word drained;  // windows read by the receiver
  OpRequest request;
  std::uint32_t tag;
  Way way;
  std::uint32_t index;  // of the window or the stream
  std::uint64_t ticket;
  std::uint64_t offset;  // of the data in the arena
};

struct alignas(4096) Mailbox::Box {
  // By receiver: one bit per letter that it has not taken, so that a receiver checks one cache
  // line.
  struct alignas(64) Marks {
    Word words[kMarkWords];
  };
  Marks marks[Arena::kMembersMax];
  Letter letters[kLetters];
  Word is_window_used[kLetterWindows];
  alignas(4096) std::byte windows[kLetterWindows][kLetterWindow];
  std::byte streams[kLetterStreams][2][kLetterWindow];
};

bool Mailbox::find_boxes() {
  if (boxes_ != nullptr) return true;
  const auto n = static_cast<std::size_t>(lanes_.size());
  boxes_ = reinterpret_cast<Box*>(lanes_.arena().try_find_or_make(
      lanes_.mailbox_key(), n * sizeof(Box), 1, false, lanes_.epoch()));
  return boxes_ != nullptr;
}

bool Mailbox::open_box() {
  if (!find_boxes()) return false;
  if (!lanes_.has_mailbox(lanes_.me())) {
    lanes_.arena().reserve(reinterpret_cast<std::byte*>(&box(lanes_.me())), sizeof(Box));
    lanes_.open_mailbox();
  }
  return true;
}

Mailbox::Box& Mailbox::box(int member) const noexcept {
  return boxes_[member];
}

Mailbox::Letter* Mailbox::find_free(int to) noexcept {
  Box& mine = box(lanes_.me());
  int unread = 0;
  for (const Word& word : mine.marks[to].words) unread += std::popcount(word.load());
  if (unread >= kUnreadMax) return nullptr;
  for (int i = 0; i < kLetters; ++i) {
    Letter& found = mine.letters[next_letter_++ % kLetters];
    if (found.state.load() == kFree) return &found;
  }
  return nullptr;
}

Mailbox::Letter* Mailbox::find_posted(int from, std::uint32_t tag) const noexcept {
  if (!lanes_.has_mailbox(from) || look_for(from, tag) == nullptr) return nullptr;
  // Letters may have arrived while the words were read one after the other: the first scan can see
  // a later letter and miss an earlier one. The second scan sees all letters posted before the one
  // that the first scan saw.
  return look_for(from, tag);
}

Mailbox::Letter* Mailbox::look_for(int from, std::uint32_t tag) const noexcept {
  Box& theirs = box(from);
  Letter* oldest = nullptr;
  for (std::size_t w = 0; w < kMarkWords; ++w) {
    std::uint64_t marks = theirs.marks[lanes_.me()].words[w].load();
    for (; marks != 0; marks &= marks - 1) {
      Letter& found = theirs.letters[w * 64 + static_cast<std::size_t>(std::countr_zero(marks))];
      if (found.tag != tag) continue;
      if (oldest == nullptr || found.ticket < oldest->ticket) oldest = &found;
    }
  }
  return oldest;
}

int Mailbox::find_window() const noexcept {
  for (int i = 0; i < kLetterWindows; ++i) {
    if (box(lanes_.me()).is_window_used[i].load() == 0) return i;
  }
  return -1;
}

int Mailbox::find_stream() const noexcept {
  const auto free = std::find(is_streaming_.begin(), is_streaming_.end(), false);
  return free == is_streaming_.end() ? -1 : static_cast<int>(free - is_streaming_.begin());
}

void Mailbox::check(const Operation& op, const Letter& found) const {
  if (found.request.type == op.request.type && found.request.count == op.request.count) return;
  throw Error(ErrorCode::Mismatch, "rank " + std::to_string(lanes_.job_rank(op.peer)) +
                                       " asked for " + found.request.to_text() + ", rank " +
                                       std::to_string(lanes_.job_rank(lanes_.me())) + " for " +
                                       op.request.to_text() + ", both with tag " +
                                       std::to_string(op.tag))
      .with_peer(lanes_.job_rank(op.peer));
}

// Fills the letter and makes it visible to its receiver. `window` holds a short message, or is -1.
void Mailbox::post(const Operation& op, Letter& letter, std::uint64_t ticket, int window) {
  const std::size_t size = op.request.count * op.element_size();
  Box& mine = box(lanes_.me());
  letter.request = op.request;
  letter.tag = op.tag;
  letter.ticket = ticket;
  letter.filled.store(0);
  letter.drained.store(0);
  letter.way = kByStream;
  if (lanes_.arena().contains(op.input, size)) {
    letter.way = kInPlace;
    letter.offset = lanes_.arena().offset_of(op.input);
    lanes_.exposure().add(op.input, size);
  } else if (window >= 0) {
    letter.way = kInWindow;
    letter.index = static_cast<std::uint32_t>(window);
    mine.is_window_used[window].store(1);
    std::memcpy(mine.windows[window], op.input, size);
  }
  letter.state.store(kPosted);
  const auto index = static_cast<std::size_t>(&letter - mine.letters);
  mine.marks[op.peer].words[index / 64].fetch_or(std::uint64_t{1} << index % 64);
  lanes_.ring();
}

// Waits until the condition holds, or until the peer has left and it still does not hold.
template <class Condition>
Task Mailbox::wait_for(int peer, Condition condition) {
  bool is_met = false;
  co_await until([&] { return (is_met = condition()) || lanes_.has_left(peer); });
  if (!is_met && !condition()) throw lanes_.departure_of(peer);
}

Task Mailbox::send(const Operation& op) {
  Line& line = sending_[op.peer];
  const std::uint64_t ticket = line.last++;
  while (!open_box()) co_await GiveWay{};
  note(lanes_, op, Phase::Entered);
  Letter* letter = nullptr;
  co_await until([&] { return line.next == ticket; });
  co_await wait_for(op.peer, [&] { return (letter = find_free(op.peer)) != nullptr; });
  ++line.next;
  const std::size_t size = op.request.count * op.element_size();
  post(op, *letter, ticket, size <= kLetterWindow ? find_window() : -1);
  if (letter->way == kByStream) {
    co_await pour(op, *letter);
  } else if (letter->way == kInPlace) {
    co_await wait_for(op.peer, [&] { return letter->drained.load() != 0; });
    lanes_.exposure().remove(op.input);
    lanes_.publish(letter->state, kFree);
  }
  note(lanes_, op, Phase::Finished);
}

// Sends through a stream, which is held only while the receiver reads: a message that the receiver
// does not want yet cannot block one that it wants.
Task Mailbox::pour(const Operation& op, Letter& letter) {
  int stream = -1;
  co_await wait_for(op.peer, [&] { return letter.state.load() == kTaken; });
  co_await until([&] { return (stream = find_stream()) >= 0; });
  const auto s = static_cast<std::size_t>(stream);
  is_streaming_[s] = true;
  letter.index = static_cast<std::uint32_t>(stream);
  const std::size_t size = op.request.count * op.element_size();
  const std::uint64_t windows = windows_in(size);
  for (std::uint64_t w = 0; w < windows; ++w) {
    co_await wait_for(op.peer, [&] { return letter.drained.load() + 2 > w; });
    const std::size_t first = w * kLetterWindow;
    std::memcpy(box(lanes_.me()).streams[s][w % 2], op.input + first,
                std::min(kLetterWindow, size - first));
    lanes_.publish(letter.filled, w + 1);
  }
  co_await wait_for(op.peer, [&] { return letter.drained.load() >= windows; });
  is_streaming_[s] = false;
  lanes_.publish(letter.state, kFree);
}

void Mailbox::take(const Operation& op, Letter& letter) {
  Box& theirs = box(op.peer);
  const auto index = static_cast<std::size_t>(&letter - theirs.letters);
  theirs.marks[lanes_.me()].words[index / 64].fetch_and(~(std::uint64_t{1} << index % 64));
  lanes_.publish(letter.state, kTaken);
}

Task Mailbox::receive(const Operation& op) {
  Line& line = receiving_[{op.peer, op.tag}];
  const std::uint64_t ticket = line.last++;
  while (!find_boxes()) co_await GiveWay{};
  note(lanes_, op, Phase::Entered);
  Letter* letter = nullptr;
  co_await until([&] { return line.next == ticket; });
  co_await wait_for(op.peer, [&] { return (letter = find_posted(op.peer, op.tag)) != nullptr; });
  take(op, *letter);
  // Remove the entry of a tag that no operation waits for.
  if (++line.next == line.last) receiving_.erase({op.peer, op.tag});
  check(op, *letter);
  if (letter->way == kInPlace) {
    co_await read_in_place(op, *letter);
  } else if (letter->way == kByStream) {
    co_await drain(op, *letter);
  } else {
    Box& theirs = box(op.peer);
    std::memcpy(op.output, theirs.windows[letter->index], op.request.count * op.element_size());
    theirs.is_window_used[letter->index].store(0);
    lanes_.publish(letter->state, kFree);
  }
  note(lanes_, op, Phase::Finished);
}

Task Mailbox::drain(const Operation& op, Letter& letter) {
  const std::size_t size = op.request.count * op.element_size();
  for (std::uint64_t w = 0; w < windows_in(size); ++w) {
    co_await wait_for(op.peer, [&] { return letter.filled.load() > w; });
    const std::size_t first = w * kLetterWindow;
    std::memcpy(op.output + first, box(op.peer).streams[letter.index][w % 2],
                std::min(kLetterWindow, size - first));
    lanes_.publish(letter.drained, w + 1);
  }
}

Task Mailbox::read_in_place(const Operation& op, Letter& letter) {
  const std::size_t size = op.request.count * op.element_size();
  const std::byte* source = lanes_.arena().at(letter.offset);
  for (std::size_t done = 0; done < size; done += kMessageStride) {
    const bool is_sound = lanes_.exposure().stride([&] {
      std::memcpy(op.output + done, source + done, std::min(kMessageStride, size - done));
    });
    // The sender gave up: its error, or the deadline, ends this operation.
    if (!is_sound) co_await until([] { return false; });
    if (size > kMessageStride) co_await GiveWay{};
  }
  lanes_.publish(letter.drained, 1);
}

}  // namespace trireme::comm::shm
