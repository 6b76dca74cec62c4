#include "trireme/cluster/launch/store_link.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "trireme/base/bytes.h"
#include "trireme/base/error.h"
#include "trireme/cluster/remote_store.h"
#include "trireme/net/secret_credentials.h"

namespace trireme::cluster::launch {
namespace {

using namespace std::chrono_literals;

constexpr auto kCallTime = 500ms;
constexpr auto kPause = 50ms;

}  // namespace

struct StoreLink::State {
  explicit State(std::filesystem::path job) : folder(std::move(job)) {}

  void run() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return is_ending || wanted; });
      if (is_ending) return;
      const int number = *wanted;
      lock.unlock();
      const bool is_written = write(number);
      lock.lock();
      if (is_written && wanted == number) wanted.reset();
      if (!is_written) changed.wait_for(lock, kPause, [&] { return is_ending; });
    }
  }

  // A connection a number: they are rare, and the coordinator may have been started anew.
  bool write(int number) const {
    try {
      const net::SecretCredentials credentials(net::Secret::from_file(folder / "secret"),
                                               {.name = "launcher", .role = "worker"});
      const auto address = net::Address::unix_socket((folder / "store.sock").string());
      RemoteStore store({.address = address, .credentials = &credentials},
                        Deadline::after(kCallTime));
      store.set("wanted", bytes_of(std::to_string(number)), Deadline::after(kCallTime));
      return true;
    } catch (const Error&) {
      return false;
    }
  }

  const std::filesystem::path folder;
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<int> wanted;  // still to be written
  bool is_ending = false;
  std::thread thread;
};

StoreLink::StoreLink(const std::filesystem::path& folder)
    : state_(std::make_unique<State>(folder)) {
  state_->thread = std::thread([state = state_.get()] { state->run(); });
}

StoreLink::~StoreLink() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->is_ending = true;
    state_->changed.notify_all();
  }
  state_->thread.join();
}

void StoreLink::set_wanted(int workers) {
  const std::lock_guard lock(state_->mutex);
  state_->wanted = workers;
  state_->changed.notify_all();
}

bool StoreLink::is_idle() const {
  const std::lock_guard lock(state_->mutex);
  return !state_->wanted;
}

}  // namespace trireme::cluster::launch
