#include "trireme/cluster/launch/job/orphan_watch.h"

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

struct OrphanWatch::State {
  void run() {
    const Duration period = std::min<Duration>(kWatchMax, timeout / 4);
    TimePoint watched = steady_clock().now();
    std::unique_lock lock(mutex);
    while (!changed.wait_for(lock, period, [this] { return is_ending; })) {
      const TimePoint now = steady_clock().now();
      if (is_watched(folder)) watched = now;
      if (now - watched < timeout) continue;
      lock.unlock();
      on_orphaned();
      return;
    }
  }

  std::filesystem::path folder;
  Duration timeout{};
  std::function<void()> on_orphaned;
  std::mutex mutex;
  std::condition_variable changed;
  bool is_ending = false;
  std::thread thread;
};

OrphanWatch::OrphanWatch(std::filesystem::path folder, Duration timeout,
                         std::function<void()> on_orphaned)
    : state_(std::make_unique<State>()) {
  state_->folder = std::move(folder);
  state_->timeout = timeout;
  state_->on_orphaned = std::move(on_orphaned);
  state_->thread = std::thread([state = state_.get()] { state->run(); });
}

OrphanWatch::~OrphanWatch() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->is_ending = true;
    state_->changed.notify_all();
  }
  state_->thread.join();
}

std::unique_ptr<OrphanWatch> OrphanWatch::of(const cluster::Environment& environment,
                                             std::function<void()> on_orphaned) {
  const StorePlace& store = environment.store;
  const bool is_ours =
      store.kind == StorePlace::Kind::Server && store.connect.kind == net::Address::Kind::Unix;
  const std::filesystem::path folder = is_ours
                                           ? std::filesystem::path(store.connect.path).parent_path()
                                           : std::filesystem::path(environment.folder);
  if (!environment.is_elastic || folder.empty()) return nullptr;
  return std::make_unique<OrphanWatch>(folder, environment.orphan_timeout, std::move(on_orphaned));
}

}  // namespace trireme::cluster::launch::job
