#include "trireme/cluster/liveness/failure_detector.h"

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/cluster/liveness/life.h"
#include "trireme/cluster/liveness/life_page.h"
#include "trireme/cluster/rank_names.h"

namespace trireme::cluster {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kHere = "here";
constexpr std::string_view kLeft = "left";
constexpr std::string_view kDead = "dead: ";
constexpr auto kStoreTimeout = 2s;  // for one request whose result no caller waits for
constexpr auto kWatchSlice = 1s;    // how soon a watching thread notices that it should end

constexpr std::string_view kFatePrefix = "fate/";

std::string key_of(const char* what, int rank) {
  char text[32];
  std::snprintf(text, sizeof(text), "%s/%07d", what, rank);
  return text;
}

std::optional<std::uint64_t> number_in(const std::optional<Bytes>& value) {
  if (!value) return std::nullopt;
  const std::string_view text = text_of(*value);
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

class FailureDetector::Watchman {
 public:
  Watchman(const Options& options, Store& store)
      : options_(options),
        store_(store),
        life_({.watchers = std::min(options.size, LifePage::kWatchersMax),
               .on_death =
                   [this](int rank) {
                     report(rank, "killed: its robust futex was released by the kernel");
                   },
               .on_left = [this](int rank) { note_left(rank); }}),
        ledger_(options.heartbeat) {}

  ~Watchman() { leave(); }

  MemoryFile::Proof proof() const { return life_.proof(); }

  void announce(Deadline deadline) {
    store_.set(key_of("fate", options_.rank), bytes_of(kHere), deadline, Lifetime::Session);
  }

  void start(const Roster& roster, Deadline deadline) {
    {
      const std::lock_guard lock(mutex_);
      roster_ = &roster;
      proven_.insert(options_.rank);
    }
    const std::vector<int>& beside = roster.ranks_beside(options_.rank);
    const auto place =
        static_cast<int>(std::find(beside.begin(), beside.end(), options_.rank) - beside.begin());
    for (const int rank : beside) {
      if (rank == options_.rank || place >= LifePage::kWatchersMax) continue;
      if (!life_.watch(rank, roster.member(rank).life, place)) continue;
      const std::lock_guard lock(mutex_);
      proven_.insert(rank);
    }
    if (roster.size() == 1) return;
    // A rank that shares memory with every other rank learns everything from the life pages.
    is_watching_ = static_cast<int>(proven_.size()) < roster.size();
    beating_ = std::thread([this] { beat(); });
    if (is_watching_) watch_fates(deadline);
  }

  void on_death(std::function<void(const Death&)> callback) {
    std::vector<Death> known;
    const std::lock_guard calling(calling_);
    {
      const std::lock_guard lock(mutex_);
      known = deaths_;
    }
    for (const Death& death : known) callback(death);
    callbacks_.push_back(std::move(callback));
  }

  void on_leave(std::function<void(int)> callback) {
    std::vector<int> known;
    const std::lock_guard calling(calling_);
    {
      const std::lock_guard lock(mutex_);
      known = left_;
    }
    for (const int rank : known) callback(rank);
    leave_callbacks_.push_back(std::move(callback));
  }

  bool shares_memory_with(int rank) const {
    const std::lock_guard lock(mutex_);
    return proven_.contains(rank);
  }

  bool wait_gone(int rank, Deadline deadline) const { return life_.wait_gone(rank, deadline); }

  void leave() noexcept {
    {
      const std::lock_guard lock(mutex_);
      if (std::exchange(is_over_, true)) return;
    }
    changed_.notify_all();
    life_.leave();
    try {
      // This also wakes this rank's own watching thread.
      store_.set(key_of("fate", options_.rank), bytes_of(kLeft), Deadline::after(kStoreTimeout));
    } catch (const std::exception&) {
      // The store is gone, so no other rank can be told.
    }
    if (beating_.joinable()) beating_.join();
    if (watching_.joinable()) watching_.join();
  }

 private:
  // Only the first report about a rank counts, whichever thread makes it.
  void report(int rank, const std::string& cause) {
    const std::lock_guard calling(calling_);
    {
      const std::lock_guard lock(mutex_);
      if (is_over_ || !over_.insert(rank).second) return;
      deaths_.push_back({rank, cause});
      to_announce_.push_back({rank, cause});
    }
    changed_.notify_all();
    options_.log.warn("a rank died", {{"rank", rank}, {"cause", cause}});
    for (const auto& callback : callbacks_) callback({rank, cause});
  }

  void note_left(int rank) {
    const std::lock_guard calling(calling_);
    {
      const std::lock_guard lock(mutex_);
      if (is_over_ || !over_.insert(rank).second) return;
      left_.push_back(rank);
    }
    for (const auto& callback : leave_callbacks_) callback(rank);
  }

  bool is_over(int rank) const {
    const std::lock_guard lock(mutex_);
    return over_.contains(rank);
  }

  void beat() noexcept {
    TimePoint next = steady_clock().now();
    std::deque<Death> deaths;  // deaths that the store did not accept are sent again with the next
                               // heartbeat
    for (std::uint64_t count = 1;; ++count) {
      std::unique_lock lock(mutex_);
      changed_.wait_until(lock, next, [&] { return is_over_ || !to_announce_.empty(); });
      if (is_over_) return;
      for (Death& death : std::exchange(to_announce_, {})) deaths.push_back(std::move(death));
      lock.unlock();
      const bool is_due = steady_clock().now() >= next;
      if (is_due) next = steady_clock().now() + options_.heartbeat.interval;
      try {
        for (; !deaths.empty(); deaths.pop_front()) publish(deaths.front());
        if (!is_due) continue;
        const std::string text = std::to_string(count);
        store_.set(key_of("beat", options_.rank), bytes_of(text),
                   Deadline::after(options_.heartbeat.timeout), Lifetime::Session);
        look_at_others();
      } catch (const Error& error) {
        // A slow store, or a full disk behind it, is no reason to stop sending heartbeats for good.
        const ErrorCode code = error.code();
        const bool is_over = code == ErrorCode::PeerLost || code == ErrorCode::Protocol ||
                             code == ErrorCode::Corrupt;
        // The watching thread, if there is one, reports the error after it has read the changes
        // that the store still delivered.
        if (is_over && !is_watching_) on_store_error(error);
        if (is_over) return;
      }
    }
  }

  void look_at_others() {
    const std::vector<int> duties = heartbeat_duties(
        *roster_, options_.rank, [this](int rank) { return shares_memory_with(rank); },
        [this](int rank) { return is_over(rank); });
    for (const int rank : duties) {
      const std::optional<Bytes> value =
          store_.get(key_of("beat", rank), Deadline::after(options_.heartbeat.timeout));
      ledger_.look(rank, number_in(value), steady_clock().now());
    }
    for (const HeartbeatLedger::Late& late : ledger_.late()) {
      ledger_.forget(late.rank);
      report(late.rank, "no heartbeat for " + name_seconds(late.silence));
    }
  }

  // Only a rank that is "here", or whose session has ended, can be declared dead.
  void publish(const Death& death) {
    const std::string key = key_of("fate", death.rank);
    const std::string text = std::string(kDead) + death.cause;
    const Deadline deadline = Deadline::after(kStoreTimeout);
    const SwapResult result =
        store_.compare_and_set(key, bytes_of(kHere), bytes_of(text), deadline);
    if (!result.swapped && !result.current) {
      store_.compare_and_set(key, std::nullopt, bytes_of(text), deadline);
    }
  }

  void watch_fates(Deadline deadline) {
    watch_ = store_.watch(kFatePrefix, deadline);
    std::set<std::string> present;
    for (const StoreChange& entry : store_.list(kFatePrefix, deadline)) present.insert(entry.key);
    watching_ = std::thread([this] { watch(); });
    for (int rank = 0; rank < options_.size; ++rank) {
      if (!present.contains(key_of("fate", rank))) {
        report(rank, "it ended right after the meeting");
      }
    }
  }

  void watch() noexcept {
    for (;;) {
      try {
        const StoreChange change = watch_->next(Deadline::after(kWatchSlice));
        on_fate(std::atoi(change.key.c_str() + kFatePrefix.size()), change.value);
      } catch (const Error& error) {
        if (error.code() != ErrorCode::Deadline) return on_store_error(error);
      }
      const std::lock_guard lock(mutex_);
      if (is_over_) return;
    }
  }

  void on_fate(int rank, const std::optional<Bytes>& value) {
    if (!value) return report(rank, "its connection to the store closed");
    const std::string_view fate = text_of(*value);
    if (fate == kLeft) {
      note_left(rank);
    } else if (fate.starts_with(kDead)) {
      report(rank, std::string(fate.substr(kDead.size())));
    }
  }

  void on_store_error(const Error& error) {
    {
      const std::lock_guard lock(mutex_);
      if (is_over_) return;
    }
    options_.log.warn("the store is gone; deaths on other hosts are no longer noticed",
                      {{"error", error.what()}});
    if (!options_.store_rank || *options_.store_rank == options_.rank) return;
    // After a rank has left in an orderly way, other ranks may run for longer than it keeps its
    // store.
    if (!life_.has_left(*options_.store_rank)) {
      report(*options_.store_rank, "the store that it serves is gone");
    }
  }

  const Options options_;
  Store& store_;
  const Roster* roster_ = nullptr;

  std::mutex calling_;  // held while a callback runs; locked before mutex_
  std::vector<std::function<void(const Death&)>> callbacks_;
  std::vector<std::function<void(int)>> leave_callbacks_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool is_over_ = false;
  bool is_watching_ = false;  // set before the threads start
  std::set<int> proven_;
  std::set<int> over_;  // died or left
  std::vector<Death> deaths_;
  std::vector<int> left_;
  std::deque<Death> to_announce_;

  Life life_;
  HeartbeatLedger ledger_;  // used only by the heartbeat thread
  std::unique_ptr<Watch> watch_;
  std::thread beating_;
  std::thread watching_;
};

FailureDetector::FailureDetector(const Options& options, Store& store)
    : watchman_(std::make_unique<Watchman>(options, store)) {}

FailureDetector::~FailureDetector() = default;

MemoryFile::Proof FailureDetector::proof() const {
  return watchman_->proof();
}

void FailureDetector::announce(Deadline deadline) {
  watchman_->announce(deadline);
}

void FailureDetector::start(const Roster& roster, Deadline deadline) {
  watchman_->start(roster, deadline);
}

void FailureDetector::on_death(std::function<void(const Death&)> callback) {
  watchman_->on_death(std::move(callback));
}

void FailureDetector::on_leave(std::function<void(int)> callback) {
  watchman_->on_leave(std::move(callback));
}

bool FailureDetector::shares_memory_with(int rank) const {
  return watchman_->shares_memory_with(rank);
}

bool FailureDetector::wait_gone(int rank, Deadline deadline) const {
  return watchman_->wait_gone(rank, deadline);
}

void FailureDetector::leave() noexcept {
  watchman_->leave();
}

}  // namespace trireme::cluster
