#include "trireme/cluster/store/reconnecting_store.h"

#include <algorithm>
#include <deque>
#include <set>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/cluster/rank_names.h"

namespace trireme::cluster {
namespace {

using namespace std::chrono_literals;

// Pause between two attempts to reach a server that is not running.
constexpr Duration kPause = 5ms;
// A server that accepts a connection and then sends nothing is retried after this time.
constexpr Duration kAttempt = 1s;
// A server whose host is unreachable counts as gone after the shorter of this and a quarter of
// `patience`.
constexpr Duration kSilenceMax = 30s;
// Time for a single attempt once `patience` has run out.
constexpr Duration kLastAttempt = 50ms;

// The errors of an attempt during which the server died.
bool is_passing(ErrorCode code) {
  return code == ErrorCode::Unreachable || code == ErrorCode::Deadline ||
         code == ErrorCode::PeerLost || code == ErrorCode::Protocol;
}

}  // namespace

ReconnectingStore::ReconnectingStore(Options options, Deadline deadline)
    : options_(std::move(options)) {
  link_ = connect(deadline);
  looker_ = std::thread([this] { look(); });
}

ReconnectingStore::~ReconnectingStore() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
    changed_.notify_all();
  }
  looker_.join();
}

ReconnectingStore::Link ReconnectingStore::connect(Deadline deadline) const {
  return std::make_shared<RemoteStore>(
      net::Client::Options{.address = options_.address,
                           .credentials = options_.credentials.get(),
                           .silence_max = std::min<Duration>(options_.patience / 4, kSilenceMax)},
      deadline);
}

// One thread connects, the others wait for it.
ReconnectingStore::Link ReconnectingStore::connected(Deadline deadline) {
  std::unique_lock lock(mutex_);
  for (bool is_tried = false;;) {
    if (link_) return link_;
    const TimePoint now = steady_clock().now();
    const TimePoint end = lost_ + options_.patience;
    const std::string gone = "the coordinator has been gone for " + name_seconds(now - lost_);
    if (now >= end && is_tried) throw Error(ErrorCode::PeerLost, gone);
    if (deadline.is_past() || is_ending_) throw Error(ErrorCode::Deadline, gone);
    if (is_connecting_) {
      changed_.wait_until(lock, std::min(deadline.when(), now + kAttempt));
      continue;
    }
    is_tried = true;
    is_connecting_ = true;
    lock.unlock();
    Link fresh;
    std::exception_ptr failure;
    try {
      const Duration most = now >= end ? kLastAttempt : std::min<Duration>(kAttempt, end - now);
      const Deadline attempt = min(deadline, Deadline::after(most));
      fresh = connect(attempt);
      restore(*fresh, attempt);
    } catch (const Error& error) {
      fresh.reset();
      if (!is_passing(error.code())) failure = std::current_exception();
    }
    lock.lock();
    is_connecting_ = false;
    link_ = fresh;
    changed_.notify_all();
    if (failure) std::rethrow_exception(failure);
    if (!fresh) changed_.wait_for(lock, kPause);
  }
}

void ReconnectingStore::restore(RemoteStore& store, Deadline deadline) {
  std::map<std::string, Held, std::less<>> held;
  {
    const std::lock_guard lock(mutex_);
    held = held_;
  }
  for (const auto& [key, what] : held) {
    if (!what.is_claimed) {
      store.set(key, what.value, deadline, Lifetime::Session);
      continue;
    }
    SwapResult result =
        store.compare_and_set(key, std::nullopt, what.value, deadline, Lifetime::Session);
    // It is this process's own key, from the previous connection; the server has not noticed its
    // end yet.
    if (!result.swapped && result.current == what.value) {
      result =
          store.compare_and_set(key, ByteView(what.value), what.value, deadline, Lifetime::Session);
    }
    if (!result.swapped) let_go(key);
  }
}

void ReconnectingStore::drop(const Link& link) {
  const std::lock_guard lock(mutex_);
  if (link_ != link) return;
  link_.reset();
  lost_ = steady_clock().now();
  changed_.notify_all();
}

template <class Call>
auto ReconnectingStore::lasting(Deadline deadline, Call call, bool* is_repeated) {
  for (;;) {
    const Link link = connected(deadline);
    try {
      return call(link);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::PeerLost) throw;
      drop(link);
      if (is_repeated != nullptr) *is_repeated = true;
    }
  }
}

// If the connection was replaced while the key was being written, the new connection does not have
// the key.
void ReconnectingStore::hold(const Link& link, std::string_view key, Held held, Deadline deadline) {
  const bool is_claimed = held.is_claimed;
  const Bytes value = held.value;
  {
    const std::lock_guard lock(mutex_);
    held_.insert_or_assign(std::string(key), std::move(held));
    if (link_ == link || !link_) return;
  }
  lasting(deadline, [&](const Link& now) {
    if (is_claimed) {
      now->compare_and_set(key, std::nullopt, value, deadline, Lifetime::Session);
    } else {
      now->set(key, value, deadline, Lifetime::Session);
    }
  });
}

void ReconnectingStore::let_go(std::string_view key) {
  const std::lock_guard lock(mutex_);
  if (const auto it = held_.find(key); it != held_.end()) held_.erase(it);
}

StoreReply ReconnectingStore::exchange(StoreRequest request, Deadline deadline) {
  const bool ends_claim = request.verb == StoreVerb::Erase ||
                          (request.verb == StoreVerb::Set && request.lifetime == Lifetime::Job);
  if (ends_claim) let_go(request.key);
  bool is_repeated = false;
  return lasting(
      deadline,
      [&](const Link& link) {
        StoreReply reply = link->ask(request, deadline);
        const bool is_swap = request.verb == StoreVerb::Swap;
        if (is_swap && is_repeated && !reply.flag)
          reply.flag = are_equal(reply.value, request.value);
        if (request.verb == StoreVerb::Set || (is_swap && reply.flag))
          note(link, request, deadline);
        return reply;
      },
      &is_repeated);
}

// A key was written: holds it if it is bound to the session.
void ReconnectingStore::note(const Link& link, const StoreRequest& request, Deadline deadline) {
  if (!request.value || request.lifetime == Lifetime::Job) return let_go(request.key);
  const bool is_claimed = request.verb == StoreVerb::Swap;
  hold(link, request.key, {.value = *request.value, .is_claimed = is_claimed}, deadline);
}

// Restores the session-bound keys of a process that makes no calls, too.
void ReconnectingStore::look() {
  std::unique_lock lock(mutex_);
  while (!is_ending_) {
    changed_.wait_for(lock, kLookPeriod);
    const Link link = link_;
    if (is_ending_) return;
    lock.unlock();
    try {
      if (link && !link->is_open()) drop(link);
      connected(Deadline::after(kLookPeriod));
    } catch (const Error&) {
      // The next call reports the error.
    }
    lock.lock();
  }
}

class ReconnectingStore::ReconnectingWatch final : public Watch {
 public:
  ReconnectingWatch(ReconnectingStore& store, std::string prefix)
      : store_(store), prefix_(std::move(prefix)) {}

  // Keeps the connection of the watch alive, even if the store has replaced its own.
  struct Inner {
    Link link;
    std::unique_ptr<Watch> watch;
  };

  // Opens the watch if it is not open.
  std::shared_ptr<Inner> opened(Deadline deadline) {
    return store_.lasting(deadline, [&](const Link& link) {
      const std::lock_guard turn(opening_);
      if (inner_ && inner_->link == link) return inner_;
      auto fresh = std::make_shared<Inner>();
      fresh->link = link;
      fresh->watch = link->watch(prefix_, deadline);
      // After the watch was opened, so that no key is missed between the two.
      if (inner_) tell_erased(link->list(prefix_, deadline));
      inner_ = fresh;
      return fresh;
    });
  }

  StoreChange next(Deadline deadline) override {
    for (;;) {
      const std::shared_ptr<Inner> inner = opened(deadline);
      {
        const std::lock_guard lock(mutex_);
        if (!erased_.empty()) return take_erased();
      }
      try {
        StoreChange change = inner->watch->next(deadline);
        note(change);
        return change;
      } catch (const Error& error) {
        if (error.code() != ErrorCode::PeerLost) throw;
        store_.drop(inner->link);
      }
    }
  }

 private:
  void note(const StoreChange& change) {
    const std::lock_guard lock(mutex_);
    revision_ = std::max(revision_, change.revision);
    if (change.value) {
      known_.insert(change.key);
    } else {
      known_.erase(change.key);
    }
  }

  void tell_erased(const std::vector<StoreChange>& there) {
    const std::lock_guard lock(mutex_);
    std::set<std::string> gone = known_;
    for (const StoreChange& change : there) gone.erase(change.key);
    for (const std::string& key : gone) {
      known_.erase(key);
      erased_.push_back({.key = key, .value = std::nullopt, .revision = revision_});
    }
  }

  StoreChange take_erased() {
    StoreChange change = std::move(erased_.front());
    erased_.pop_front();
    return change;
  }

  ReconnectingStore& store_;
  const std::string prefix_;
  std::mutex opening_;
  std::shared_ptr<Inner> inner_;  // guarded by opening_
  std::mutex mutex_;              // guards the members below
  std::set<std::string> known_;
  std::deque<StoreChange> erased_;
  std::uint64_t revision_ = 0;
};

std::unique_ptr<Watch> ReconnectingStore::watch(std::string_view prefix, Deadline deadline) {
  auto watch = std::make_unique<ReconnectingWatch>(*this, std::string(prefix));
  watch->opened(deadline);
  return watch;
}

}  // namespace trireme::cluster
