#include "trireme/cluster/launch/job/job_watch.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "trireme/cluster/launch/job/folder.h"

namespace trireme::cluster::launch::job {
namespace {

using namespace std::chrono_literals;

constexpr Duration kWatchMax = 1s;

}  // namespace

struct JobWatch::State {
  void run() {
    const Duration period = std::min<Duration>(kWatchMax, timeout / 4);
    TimePoint watched = steady_clock().now();
    std::unique_lock lock(mutex);
    while (!changed.wait_for(lock, period, [this] { return is_ending; })) {
      const TimePoint now = steady_clock().now();
      if (is_watched(folder)) watched = now;
      if (now - watched < timeout) continue;
      lock.unlock();
      on_unwatched();
      return;
    }
  }

  std::filesystem::path folder;
  Duration timeout{};
  std::function<void()> on_unwatched;
  std::mutex mutex;
  std::condition_variable changed;
  bool is_ending = false;
  std::thread thread;
};

JobWatch::JobWatch(std::filesystem::path folder, Duration timeout,
                   std::function<void()> on_unwatched)
    : state_(std::make_unique<State>()) {
  state_->folder = std::move(folder);
  state_->timeout = timeout;
  state_->on_unwatched = std::move(on_unwatched);
  state_->thread = std::thread([state = state_.get()] { state->run(); });
}

JobWatch::~JobWatch() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->is_ending = true;
    state_->changed.notify_all();
  }
  state_->thread.join();
}

std::unique_ptr<JobWatch> JobWatch::of(const cluster::Environment& environment,
                                       std::function<void()> on_unwatched) {
  const StorePlace& store = environment.store;
  const bool is_ours =
      store.kind == StorePlace::Kind::Server && store.connect.kind == net::Address::Kind::Unix;
  const std::filesystem::path folder = is_ours
                                           ? std::filesystem::path(store.connect.path).parent_path()
                                           : std::filesystem::path(environment.folder);
  if (!environment.is_elastic || folder.empty()) return nullptr;
  return std::make_unique<JobWatch>(folder, environment.orphan_timeout, std::move(on_unwatched));
}

}  // namespace trireme::cluster::launch::job
