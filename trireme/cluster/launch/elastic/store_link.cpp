#include "trireme/cluster/launch/elastic/store_link.h"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "trireme/base/bytes.h"
#include "trireme/base/error.h"
#include "trireme/base/file/event_descriptor.h"
#include "trireme/cluster/launch/job/coordinator.h"
#include "trireme/cluster/membership/epoch.h"
#include "trireme/cluster/membership/records.h"
#include "trireme/cluster/store/etcd/etcd_store.h"
#include "trireme/cluster/store/reconnecting_store.h"
#include "trireme/net/auth/secret_credentials.h"

namespace trireme::cluster::launch {
namespace {

using namespace std::chrono_literals;

constexpr auto kCallTime = 500ms;
constexpr auto kPause = 50ms;

}  // namespace

struct StoreLink::State {
  explicit State(Options given) : options(std::move(given)) {}

  void run() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return is_ending || wanted || is_confirming(); });
      if (is_ending) return;
      const std::optional<int> number = wanted;
      lock.unlock();
      const bool is_written = !number || write(*number);
      const bool is_done = confirm() && is_written;
      lock.lock();
      if (is_written && wanted == number) wanted.reset();
      if (!is_done) changed.wait_for(lock, kPause, [&] { return is_ending; });
    }
  }

  net::Address address() const {
    if (!options.address.empty()) return net::Address::parse(options.address);
    return net::Address::unix_socket((options.folder / "store.sock").string());
  }

  std::unique_ptr<Store> open() const {
    const Deadline deadline = Deadline::after(kCallTime);
    if (options.etcd) {
      return std::make_unique<etcd::EtcdStore>(etcd::EtcdStore::Options{.place = *options.etcd},
                                               deadline);
    }
    const auto credentials = std::make_shared<net::SecretCredentials>(
        net::Secret::from_file(options.folder / "secret"), "launcher");
    return std::make_unique<ReconnectingStore>(
        ReconnectingStore::Options{.address = address(), .credentials = credentials}, deadline);
  }

  // Opens a connection for each number, because changes are rare.
  bool write(int number) const {
    try {
      open()->set("wanted", bytes_of(std::to_string(number)), Deadline::after(kCallTime));
      return true;
    } catch (const Error&) {
      return false;
    }
  }

  // REQUIRES: the mutex is held.
  bool is_confirming() const { return confirms_requested != confirms_done; }

  // Reads the members if requested. False: try again, because the store did not answer, an epoch
  // arrived from the watch in the meantime, or another request came.
  bool confirm() {
    std::unique_lock lock(mutex);
    if (!is_confirming()) return true;
    const std::uint64_t before = newest;
    const std::uint64_t request = confirms_requested;
    lock.unlock();
    std::optional<membership::Epoch> last;
    try {
      last = newest_epoch(std::max<std::uint64_t>(before, 1));
    } catch (const Error&) {
      return false;
    }
    lock.lock();
    if (newest != before || confirms_requested != request) return false;
    set_members(last);
    confirmed = members;
    confirms_done = request;
    event.set();
    return true;
  }

  bool has_to_end() const {
    const std::lock_guard lock(mutex);
    return is_ending;
  }

  // Follows the epochs in the store from this number on: they are consecutive and never erased
  // while the job runs. A list of all of them could exceed the size of an answer.
  std::optional<membership::Epoch> newest_epoch(std::uint64_t number) const {
    const std::unique_ptr<Store> store = open();
    std::optional<membership::Epoch> last;
    while (const auto value =
               store->get(membership::epoch_key(number), Deadline::after(kCallTime))) {
      ++number;
      if (has_to_end()) throw Error(ErrorCode::Aborted, "the launcher ends");
      if (membership::refusal_in(*value)) continue;
      last = membership::decode_epoch(*value);
    }
    return last;
  }

  // REQUIRES: the mutex is held.
  void set_members(const std::optional<membership::Epoch>& epoch) {
    newest = epoch ? epoch->number() : 0;
    members.clear();
    if (epoch) {
      for (const membership::EpochMember& entry : epoch->members()) members.insert(entry.worker);
    }
    if (options.lone_watch) options.lone_watch->set_members(members);
  }

  void follow() {
    while (!has_ended(kPause)) {
      try {
        const std::unique_ptr<Store> store = open();
        const std::unique_ptr<Watch> watch = store->watch("epoch/", Deadline::after(kCallTime));
        while (!has_ended({})) {
          note(*watch);
          look(*store);
          hear_lone(*store);
        }
      } catch (const Error&) {
        // The store has been gone for long, is not running yet, or is frozen.
        end_silence();
      }
    }
  }

  // Reads the announced workers from time to time, which also shows that the store answers.
  void look(Store& store) {
    const TimePoint now = steady_clock().now();
    if (now - answered < options.silence_max / 8) return;
    try {
      Announced found{.as_of = now};
      for (const StoreChange& entry :
           store.list(membership::kWorkerPrefix, Deadline::after(kCallTime))) {
        if (const auto worker = membership::worker_in(entry.key)) found.workers.insert(*worker);
      }
      answered = steady_clock().now();
      const std::lock_guard lock(mutex);
      announced = std::move(found);
      event.set();
    } catch (const Error& error) {
      if (error.code() != ErrorCode::Deadline) throw;
      end_silence();
    }
  }

  void hear_lone(Store& store) {
    const auto worker = options.lone_watch ? options.lone_watch->worker() : std::nullopt;
    if (!worker) return;
    // The worker's silence counts only while this process can write to the store: a store that
    // refuses writes refuses the worker's heartbeats too.
    store.set("launcher", bytes_of(std::to_string(++writes)), Deadline::after(kCallTime),
              Lifetime::Session);
    const auto heartbeat = store.get(membership::well_key(*worker), Deadline::after(kCallTime));
    if (!options.lone_watch->note_heartbeat(*worker, heartbeat, steady_clock().now())) return;
    const std::lock_guard lock(mutex);
    silent = worker;
    event.set();
  }

  // How long to wait for the next change in the store.
  Duration pause() const {
    const bool has_lone = options.lone_watch && options.lone_watch->worker();
    return has_lone ? std::min<Duration>(kCallTime, options.lone_watch->interval()) : kCallTime;
  }

  void end_silence() {
    if (steady_clock().now() - answered < options.silence_max) return;
    answered = steady_clock().now();
    if (const auto pid = job::coordinator_of(options.folder)) kill(*pid, SIGKILL);
  }

  void note(Watch& watch) {
    StoreChange change;
    try {
      change = watch.next(Deadline::after(pause()));
    } catch (const Error& error) {
      if (error.code() == ErrorCode::Deadline) return;
      throw;
    }
    const std::lock_guard lock(mutex);
    // Epochs are never erased: without a value the job is restarting.
    if (!change.value) return set_members(std::nullopt);
    if (membership::refusal_in(*change.value)) return;
    const membership::Epoch epoch = membership::decode_epoch(*change.value);
    if (epoch.number() <= newest) return;
    set_members(epoch);
    event.set();
  }

  bool has_ended(Duration pause) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, pause, [this] { return is_ending; });
  }

  const Options options;
  // Used only by the follower thread.
  TimePoint answered = steady_clock().now();
  std::uint64_t writes = 0;
  mutable std::mutex mutex;
  std::condition_variable changed;
  std::optional<int> wanted;  // not yet written
  std::uint64_t newest = 0;
  std::set<int> members;
  std::optional<Announced> announced;
  std::uint64_t confirms_requested = 0;
  std::uint64_t confirms_done = 0;
  std::optional<std::set<int>> confirmed;
  std::optional<int> silent;
  const EventDescriptor event;
  bool is_ending = false;
  std::thread writer;
  std::thread follower;
};

StoreLink::StoreLink(Options options) : state_(std::make_unique<State>(std::move(options))) {
  state_->writer = std::thread([state = state_.get()] { state->run(); });
  state_->follower = std::thread([state = state_.get()] { state->follow(); });
}

StoreLink::~StoreLink() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->is_ending = true;
    state_->changed.notify_all();
  }
  state_->writer.join();
  state_->follower.join();
}

void StoreLink::set_wanted(int workers) {
  const std::lock_guard lock(state_->mutex);
  state_->wanted = workers;
  state_->changed.notify_all();
}

void StoreLink::forget_members() {
  const std::lock_guard lock(state_->mutex);
  state_->set_members(std::nullopt);
  state_->confirms_done = ++state_->confirms_requested;
  state_->confirmed.reset();
}

void StoreLink::confirm_members() {
  const std::lock_guard lock(state_->mutex);
  ++state_->confirms_requested;
  state_->confirmed.reset();
  state_->changed.notify_all();
}

std::optional<std::set<int>> StoreLink::take_confirmed() {
  const std::lock_guard lock(state_->mutex);
  return std::exchange(state_->confirmed, std::nullopt);
}

std::optional<int> StoreLink::take_silent() {
  const std::lock_guard lock(state_->mutex);
  return std::exchange(state_->silent, std::nullopt);
}

int StoreLink::event() const {
  return state_->event.get();
}

void StoreLink::clear_event() const {
  state_->event.clear();
}

std::set<int> StoreLink::members() const {
  const std::lock_guard lock(state_->mutex);
  return state_->members;
}

std::optional<Announced> StoreLink::announced() const {
  const std::lock_guard lock(state_->mutex);
  return state_->announced;
}

bool StoreLink::is_idle() const {
  const std::lock_guard lock(state_->mutex);
  return !state_->wanted;
}

}  // namespace trireme::cluster::launch
