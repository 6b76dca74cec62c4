#include "trireme/comm/shm/mailbox.h"

#include <algorithm>
#include <cstring>

namespace trireme::comm::shm {
namespace {

constexpr int kLetters = 4;
constexpr std::size_t kLetterWindow = std::size_t{32} << 10;

enum LetterState : std::uint64_t { kFree = 0, kPosted = 1, kTaken = 2 };

}  // namespace

struct alignas(4096) Mailbox::Letter {
  Word state;
  Word filled;   // windows written by the sender
  Word drained;  // windows read by the receiver
  Request request;
  std::uint32_t tag;
  std::uint64_t ticket;
  std::uint64_t offset;  // of the data in the arena, or kPrivate
  std::byte windows[2][kLetterWindow];
};

void Mailbox::open(Deadline deadline) {
  if (block_ != nullptr) return;
  const auto n = static_cast<std::size_t>(lanes_.size());
  block_ = lanes_.arena().find_or_make(lanes_.mailbox_key(), n * n * kLetters * sizeof(Letter), 1,
                                       deadline);
  sending_.assign(n, {});
}

Mailbox::Letter& Mailbox::letter(int from, int to, int index) const noexcept {
  return reinterpret_cast<Letter*>(block_)[(from * lanes_.size() + to) * kLetters + index];
}

Mailbox::Letter* Mailbox::find_free(int to) const noexcept {
  for (int i = 0; i < kLetters; ++i) {
    Letter& found = letter(lanes_.me(), to, i);
    if (found.state.load() == kFree) return &found;
  }
  return nullptr;
}

Mailbox::Letter* Mailbox::find_posted(int from, std::uint32_t tag) const noexcept {
  Letter* oldest = nullptr;
  for (int i = 0; i < kLetters; ++i) {
    Letter& found = letter(from, lanes_.me(), i);
    if (found.state.load() != kPosted || found.tag != tag) continue;
    if (oldest == nullptr || found.ticket < oldest->ticket) oldest = &found;
  }
  return oldest;
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

Task Mailbox::send(const Operation& op) {
  open(op.deadline);
  lanes_.note(op, Phase::Entered);
  Line& line = sending_[static_cast<std::size_t>(op.peer)];
  const std::uint64_t ticket = line.last++;
  Letter* post = nullptr;
  co_await until([&] { return line.next == ticket && (post = find_free(op.peer)) != nullptr; });
  ++line.next;
  const std::size_t size = op.request.count * op.element_size();
  const bool is_shared = lanes_.arena().contains(op.input, size);
  post->request = op.request;
  post->tag = op.tag;
  post->ticket = ticket;
  post->offset = is_shared ? lanes_.arena().offset_of(op.input) : kPrivate;
  post->filled.store(0);
  post->drained.store(0);
  const bool is_small = !is_shared && size <= kLetterWindow;
  if (is_small) std::memcpy(post->windows[0], op.input, size);
  lanes_.publish(post->state, kPosted);
  if (is_small) {
    lanes_.note(op, Phase::Finished);
    co_return;
  }
  const std::uint64_t windows = is_shared ? 1 : (size + kLetterWindow - 1) / kLetterWindow;
  for (std::uint64_t w = 0; w < windows && !is_shared; ++w) {
    co_await until([&] { return post->drained.load() + 2 > w; });
    const std::size_t first = w * kLetterWindow;
    std::memcpy(post->windows[w % 2], op.input + first, std::min(kLetterWindow, size - first));
    lanes_.publish(post->filled, w + 1);
  }
  co_await until([&] { return post->drained.load() >= windows; });
  lanes_.publish(post->state, kFree);
  lanes_.note(op, Phase::Finished);
}

Task Mailbox::receive(const Operation& op) {
  open(op.deadline);
  lanes_.note(op, Phase::Entered);
  Line& line = receiving_[{op.peer, op.tag}];
  const std::uint64_t ticket = line.last++;
  Letter* post = nullptr;
  co_await until(
      [&] { return line.next == ticket && (post = find_posted(op.peer, op.tag)) != nullptr; });
  post->state.store(kTaken);
  // A tag that nobody waits for is forgotten.
  if (++line.next == line.last) receiving_.erase({op.peer, op.tag});
  check(op, *post);
  const std::size_t size = op.request.count * op.element_size();
  if (post->offset != kPrivate) {
    std::memcpy(op.output, lanes_.arena().at(post->offset), size);
    lanes_.publish(post->drained, 1);
  } else if (size <= kLetterWindow) {
    std::memcpy(op.output, post->windows[0], size);
    lanes_.publish(post->state, kFree);
  } else {
    const std::uint64_t windows = (size + kLetterWindow - 1) / kLetterWindow;
    for (std::uint64_t w = 0; w < windows; ++w) {
      co_await until([&] { return post->filled.load() > w; });
      const std::size_t first = w * kLetterWindow;
      std::memcpy(op.output + first, post->windows[w % 2], std::min(kLetterWindow, size - first));
      lanes_.publish(post->drained, w + 1);
    }
  }
  lanes_.note(op, Phase::Finished);
}

}  // namespace trireme::comm::shm
