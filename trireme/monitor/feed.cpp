#include "trireme/monitor/feed.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "trireme/base/clock.h"

namespace trireme::monitor {
namespace {

std::string line_of(const Record& always, const Record& record) {
  Record whole{{"time", wall_seconds()}};
  for (const auto& field : always.fields()) whole.add(field);
  for (const auto& field : record.fields()) whole.add(field);
  return whole.to_json();
}

}  // namespace

struct Feed::State {
  explicit State(Options given) : options(std::move(given)) {}

  void run() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return is_stopping || !queue.empty(); });
      if (queue.empty()) return;
      std::vector<FeedLine> batch = take_batch();
      lock.unlock();
      bool is_sent = true;
      try {
        options.send(batch);
      } catch (...) {
        is_sent = false;
      }
      lock.lock();
      finished += in_flight;
      if (!is_sent) give_up();
      in_flight = 0;
      changed.notify_all();
    }
  }

  // REQUIRES: the lock is held; this also applies to all functions below.
  std::vector<FeedLine> take_batch() {
    std::vector<FeedLine> batch;
    if (dropped > dropped_said) {
      const Record notice{{"event", "reports dropped"},
                          {"count", static_cast<std::int64_t>(dropped - dropped_said)}};
      batch.push_back({.channel = Channel::Events, .json = line_of(options.always, notice)});
      dropped_said = dropped;
    }
    while (!queue.empty() && batch.size() < options.batch_max) {
      batch.push_back(std::move(queue.front()));
      queue.pop_front();
      ++in_flight;
    }
    return batch;
  }

  void give_up() {
    is_over = true;
    dropped += in_flight + queue.size();
    finished += queue.size();
    queue.clear();
  }

  void add(FeedLine report) {
    ++reported;
    if (is_over || options.queue_max == 0) {
      ++dropped;
      ++finished;
      return;
    }
    if (queue.size() >= options.queue_max) {
      queue.pop_front();
      ++dropped;
      ++finished;
    }
    queue.push_back(std::move(report));
    changed.notify_all();
  }

  Options options;
  mutable std::mutex mutex;
  std::condition_variable changed;
  std::deque<FeedLine> queue;
  std::size_t in_flight = 0;
  std::uint64_t reported = 0;
  std::uint64_t finished = 0;  // sent or dropped
  std::uint64_t dropped = 0;
  std::uint64_t dropped_said = 0;
  bool is_over = false;
  bool is_stopping = false;
  std::thread thread;
};

Feed::Feed(Options options) : state_(std::make_unique<State>(std::move(options))) {
  state_->thread = std::thread([state = state_.get()] { state->run(); });
}

Feed::~Feed() {
  flush(Deadline::after(state_->options.linger));
  {
    const std::lock_guard lock(state_->mutex);
    state_->is_stopping = true;
    state_->dropped += state_->queue.size();
    state_->queue.clear();
    state_->changed.notify_all();
  }
  state_->thread.join();
}

void Feed::report(Channel channel, const Record& record) noexcept {
  try {
    FeedLine report{.channel = channel, .json = line_of(state_->options.always, record)};
    const std::lock_guard lock(state_->mutex);
    state_->add(std::move(report));
  } catch (...) {
    // Out of memory: dropping a report is better than terminating the rank.
    const std::lock_guard lock(state_->mutex);
    ++state_->dropped;
  }
}

bool Feed::flush(Deadline deadline) {
  std::unique_lock lock(state_->mutex);
  const std::uint64_t target = state_->reported;
  const auto is_done = [&] { return state_->finished >= target; };
  if (deadline.is_never()) {
    state_->changed.wait(lock, is_done);
  } else {
    state_->changed.wait_until(lock, deadline.when(), is_done);
  }
  return is_done() && !state_->is_over;
}

std::uint64_t Feed::dropped() const {
  const std::lock_guard lock(state_->mutex);
  return state_->dropped;
}

}  // namespace trireme::monitor
