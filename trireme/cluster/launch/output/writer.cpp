#include "trireme/cluster/launch/output/writer.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <set>
#include <utility>

#include "trireme/base/file/event_descriptor.h"

namespace trireme::cluster::launch::output {
namespace {

constexpr std::size_t kWriteSize = std::size_t{64} << 10;
constexpr std::size_t kOwnPendingMax = std::size_t{1} << 20;

struct QueuedOutput {
  int descriptor = -1;
  std::string text;
};

// Returns 0, or the errno of a permanent failure.
int write_whole(const QueuedOutput& piece) {
  const char* at = piece.text.data();
  std::size_t left = piece.text.size();
  while (left > 0) {
    const ssize_t size = write(piece.descriptor, at, left);
    if (size >= 0) {
      at += size;
      left -= static_cast<std::size_t>(size);
    } else if (errno == EAGAIN) {
      // Another process that shares the terminal or pipe made it non-blocking.
      pollfd room{.fd = piece.descriptor, .events = POLLOUT, .revents = 0};
      poll(&room, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace

// Shared with the thread, which may outlive the Writer while a write blocks.
struct Writer::State {
  explicit State(std::size_t bound, Descriptor file = {})
      : pending_max(bound), own(std::move(file)) {}

  void run() {
    std::unique_lock lock(mutex);
    while (true) {
      work.wait(lock, [&] { return is_stopping || !queue.empty(); });
      if (is_stopping) return;
      const QueuedOutput piece = std::move(queue.front());
      queue.pop_front();
      const bool is_lost = broken.contains(piece.descriptor);
      lock.unlock();
      const int failure = is_lost ? 0 : write_whole(piece);
      lock.lock();
      if (failure != 0) {
        broken.insert(piece.descriptor);
        if (error == 0) error = failure;
      }
      pending -= piece.text.size();
      event.set();
    }
  }

  const std::size_t pending_max;
  const Descriptor own;
  const EventDescriptor event;
  std::mutex mutex;
  std::condition_variable work;
  std::deque<QueuedOutput> queue;
  std::size_t pending = 0;  // bytes, including those being written
  std::set<int> broken;
  int error = 0;
  bool is_stopping = false;
};

Writer::Writer(std::size_t pending_max) : state_(std::make_shared<State>(pending_max)) {
  run();
}

Writer::Writer(Descriptor own) : state_(std::make_shared<State>(kOwnPendingMax, std::move(own))) {
  run();
}

void Writer::run() {
  std::thread([state = state_] { state->run(); }).detach();
}

Writer::~Writer() {
  const std::lock_guard lock(state_->mutex);
  state_->is_stopping = true;
  state_->work.notify_one();
}

void Writer::push(int descriptor, std::string text) {
  if (text.empty()) return;
  if (state_->own) descriptor = state_->own.get();
  const std::lock_guard lock(state_->mutex);
  if (state_->broken.contains(descriptor)) return;
  state_->pending += text.size();
  auto& queue = state_->queue;
  const bool can_join = !queue.empty() && queue.back().descriptor == descriptor &&
                        queue.back().text.size() + text.size() <= kWriteSize;
  if (can_join) {
    queue.back().text += text;
  } else {
    queue.push_back({.descriptor = descriptor, .text = std::move(text)});
  }
  state_->work.notify_one();
}

bool Writer::has_room() const {
  const std::lock_guard lock(state_->mutex);
  return state_->pending < state_->pending_max;
}

bool Writer::is_drained() const {
  const std::lock_guard lock(state_->mutex);
  return state_->pending == 0;
}

int Writer::error() const {
  const std::lock_guard lock(state_->mutex);
  return state_->error;
}

int Writer::event() const noexcept {
  return state_->event.get();
}

void Writer::clear_event() {
  state_->event.clear();
}

}  // namespace trireme::cluster::launch::output
