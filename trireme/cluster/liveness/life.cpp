#include "trireme/cluster/liveness/life.h"

#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <exception>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/base/file/descriptor.h"
#include "trireme/cluster/liveness/harmless.h"
#include "trireme/cluster/liveness/life_page.h"
#include "trireme/cluster/liveness/robust_list.h"

namespace trireme::cluster {
namespace {

using namespace std::chrono_literals;

// The longest time that the thread sleeps; it checks the pidfds this often. With more peers than
// one futex_waitv(2) accepts, it goes through them in slices, faster.
constexpr Duration kLook = 1s;
constexpr Duration kLookSliced = 10ms;
constexpr std::size_t kSlice = FUTEX_WAITV_MAX - 1;  // one entry is for this process's own bell

Descriptor open_pidfd(int pid) {
  return Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

bool is_gone(const Descriptor& pidfd) {
  pollfd entry{pidfd.get(), POLLIN, 0};
  return ::poll(&entry, 1, 0) == 1;
}

struct Peer {
  int rank = 0;
  int pid = 0;
  int place = 0;
  LifePage page;
  Descriptor pidfd;
  std::atomic<bool> is_over = false;
  std::uint64_t beats_seen = 0;  // used only by the thread

  Peer(int rank_, int pid_, int place_, LifePage page_, Descriptor pidfd_)
      : rank(rank_), pid(pid_), place(place_), page(std::move(page_)), pidfd(std::move(pidfd_)) {}
};

// A pidfd cannot tell whether a process still runs, so wait_harmless() polls.
constexpr Duration kHarmlessLook = 100us;

}  // namespace

class Life::Watcher {
 public:
  explicit Watcher(Options options)
      : options_(std::move(options)), page_(LifePage::make()), bell_fd_(::eventfd(0, EFD_CLOEXEC)) {
    if (!bell_fd_) throw system_error("cannot make an eventfd", errno);
    if (options_.heartbeat.timeout.count() > 0) ledger_.emplace(options_.heartbeat);
    is_beating_ = ledger_ || (options_.liveness && options_.heartbeat.interval.count() > 0);
    std::promise<void> ready;
    std::future<void> is_ready = ready.get_future();
    thread_ = std::thread([this, &ready] { run(ready); });
    try {
      is_ready.get();
    } catch (...) {
      thread_.join();
      throw;
    }
  }

  ~Watcher() { stop({}); }

  MemoryFile::Proof proof() const { return page_.proof(); }

  bool watch(int rank, const MemoryFile::Proof& proof, int place) {
    // The pidfd first: if the process is still alive after the nonce was read, it is the process
    // that has it.
    Descriptor pidfd = open_pidfd(proof.pid);
    if (!pidfd) return false;
    std::optional<LifePage> page = LifePage::open(proof);
    if (!page || is_gone(pidfd)) return false;
    const std::lock_guard lock(mutex_);
    auto peer = std::make_shared<Peer>(rank, proof.pid, place, *std::move(page), std::move(pidfd));
    TRIREME_CHECK(peers_.emplace(rank, peer).second, "rank ", rank, " is watched already");
    ring();
    return true;
  }

  bool wait_gone(int rank, Deadline deadline) const {
    const std::shared_ptr<Peer> peer = need(rank);
    pollfd entry{peer->pidfd.get(), POLLIN, 0};
    int count = 0;
    do {
      count = ::poll(&entry, 1, deadline.poll_timeout());
    } while (count < 0 && errno == EINTR);
    return count == 1;
  }

  bool wait_harmless(int rank, Deadline deadline) const {
    const std::shared_ptr<Peer> peer = need(rank);
    for (;;) {
      const bool is_ours = peer->pid == ::getpid();
      // In this order, so that a pid that was reused by another process meanwhile does no harm.
      if (is_ours ? peer->is_over.load() : is_harmless(peer->pid)) return true;
      if (is_gone(peer->pidfd)) return true;
      if (deadline.is_past()) return false;
      std::this_thread::sleep_for(kHarmlessLook);
    }
  }

  bool kill(int rank, std::string_view why) const {
    std::shared_ptr<Peer> peer;
    {
      const std::lock_guard lock(mutex_);
      const auto it = peers_.find(rank);
      if (it == peers_.end() || it->second->pid == ::getpid()) return false;
      peer = it->second;
    }
    if (!why.empty()) peer->page.say_reason(why);
    ::syscall(SYS_pidfd_send_signal, peer->pidfd.get(), SIGKILL, nullptr, 0);
    return true;
  }

  std::string reason(int rank) const {
    const std::lock_guard lock(mutex_);
    const auto it = peers_.find(rank);
    return it == peers_.end() ? "" : it->second->page.reason();
  }

  void forget(int rank) {
    const std::lock_guard lock(mutex_);
    if (peers_.erase(rank) == 0) return;
    if (options_.stalls) options_.stalls->forget(rank);
    ring();
  }

  bool has_left(int rank) const {
    const std::lock_guard lock(mutex_);
    const auto it = peers_.find(rank);
    if (it == peers_.end()) return false;
    const Peer& peer = *it->second;
    return peer.page.sign_of(peer.page.load(peer.place)) == LifeSign::Left;
  }

  void stop(std::string_view why) {
    {
      const std::lock_guard lock(mutex_);
      if (!is_over_ && !why.empty()) page_.say_reason(why);
      is_over_ = true;
      ring();
    }
    if (thread_.joinable()) thread_.join();
  }

 private:
  using Peers = std::vector<std::shared_ptr<Peer>>;

  std::shared_ptr<Peer> need(int rank) const {
    const std::lock_guard lock(mutex_);
    const auto it = peers_.find(rank);
    if (it == peers_.end()) {
      throw Error(ErrorCode::NotFound, "rank " + std::to_string(rank) + " is not watched");
    }
    return it->second;
  }

  void ring() {
    ++bell_;
    ::syscall(SYS_futex, &bell_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t put = ::write(bell_fd_.get(), &one, sizeof(one));
  }

  void run(std::promise<void>& ready) {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
    std::optional<RobustList> words;
    try {
      words.emplace(page_, options_.watchers);
    } catch (...) {
      ready.set_exception(std::current_exception());
      return;
    }
    ready.set_value();
    for (;;) {
      const std::uint32_t bell = bell_.load();
      const std::optional<Peers> peers = living();
      if (!peers) return;
      if (look_at(*peers)) continue;
      beat(*peers);
      if (has_waitv_) {
        sleep_on_words(*peers, bell);
      } else {
        sleep_on_pidfds(*peers);
      }
    }
  }

  // Returns nothing when the thread should end.
  std::optional<Peers> living() const {
    const std::lock_guard lock(mutex_);
    if (is_over_) return std::nullopt;
    Peers peers;
    for (const auto& [rank, peer] : peers_) {
      if (!peer->is_over) peers.push_back(peer);
    }
    return peers;
  }

  // False for a peer that was forgotten after this look started.
  bool is_watched(const Peer& peer) const {
    const std::lock_guard lock(mutex_);
    const auto it = peers_.find(peer.rank);
    return it != peers_.end() && it->second.get() == &peer;
  }

  // Sends a heartbeat and checks the peers, if it is time to.
  void beat(const Peers& peers) {
    const TimePoint now = steady_clock().now();
    if (!is_beating_ || now < next_beat_) return;
    next_beat_ = now + options_.heartbeat.interval;
    page_.beat(options_.liveness ? options_.liveness->report() : Liveness::Report{});
    if (ledger_) look_for_silence(peers, now);
    if (options_.liveness && options_.stalls) look_for_stalls(peers, now);
  }

  void look_for_silence(const Peers& peers, TimePoint now) {
    std::set<int> ranks;
    for (const std::shared_ptr<Peer>& peer : peers) {
      ledger_->look(peer->rank, peer->page.beats(), now);
      ranks.insert(peer->rank);
    }
    for (const int rank : std::exchange(looked_at_, ranks)) {
      if (!ranks.contains(rank)) ledger_->forget(rank);
    }
    for (const HeartbeatLedger::Late& late : ledger_->late()) {
      ledger_->forget(late.rank);
      if (options_.on_silent) options_.on_silent(late.rank, late.silence);
    }
  }

  // Only for peers that have sent a heartbeat since the last look: a report is as old as its
  // heartbeat.
  void look_for_stalls(const Peers& peers, TimePoint now) {
    const Liveness::Report self = options_.liveness->report();
    for (const std::shared_ptr<Peer>& peer : peers) {
      const std::uint64_t beats = peer->page.beats();
      if (std::exchange(peer->beats_seen, beats) == beats) continue;
      const auto why = options_.stalls->look(peer->rank, peer->page.report(), self, now);
      if (why && options_.on_stuck) options_.on_stuck(peer->rank, *why);
    }
    const std::optional<std::string> why = options_.stalls->look_at_self(self, now);
    if (!why || !options_.on_self_stuck) return;
    page_.say_reason(*why);
    options_.on_self_stuck(*why);
  }

  // When the thread has to wake up again if no peer dies.
  TimePoint next_look(Duration most) const {
    const TimePoint when = steady_clock().now() + most;
    return is_beating_ ? std::min(when, next_beat_) : when;
  }

  // True if a peer is gone.
  bool look_at(const Peers& peers) {
    const TimePoint now = steady_clock().now();
    const bool asks_pidfds = !has_waitv_ || now >= next_pidfds_;
    if (asks_pidfds) next_pidfds_ = now + kLook;
    bool has_news = false;
    for (const std::shared_ptr<Peer>& peer : peers) {
      LifeSign sign = peer->page.sign_of(peer->page.load(peer->place));
      if (sign == LifeSign::Living && asks_pidfds && is_gone(peer->pidfd)) {
        // The process is gone and its word was not marked: the page tells whether it left.
        sign = peer->page.sign_of(FUTEX_OWNER_DIED);
      }
      if (sign == LifeSign::Living) continue;
      has_news = true;
      peer->is_over = true;
      // A dead worker's account would make the next stall look common to several workers.
      if (options_.stalls) options_.stalls->forget(peer->rank);
      const auto& callback = sign == LifeSign::Died ? options_.on_death : options_.on_left;
      if (callback && is_watched(*peer)) callback(peer->rank);
    }
    return has_news;
  }

  void sleep_on_words(const Peers& peers, std::uint32_t bell) {
    futex_waitv waits[FUTEX_WAITV_MAX] = {};
    waits[0] = {bell, reinterpret_cast<std::uintptr_t>(&bell_), FUTEX_32 | FUTEX_PRIVATE_FLAG, 0};
    const std::size_t count = std::min(peers.size(), kSlice);
    for (std::size_t i = 0; i < count; ++i) {
      const Peer& peer = *peers[(slice_ + i) % peers.size()];
      const std::uint32_t value = peer.page.load(peer.place);
      if (peer.page.sign_of(value) != LifeSign::Living) return;
      waits[i + 1] = {value, reinterpret_cast<std::uintptr_t>(peer.page.word(peer.place)), FUTEX_32,
                      0};
    }
    slice_ += count;
    const Duration most = peers.size() > kSlice ? kLookSliced : kLook;
    const auto until = next_look(most).time_since_epoch();
    const auto seconds = std::chrono::floor<std::chrono::seconds>(until);
    const timespec when{seconds.count(), (until - seconds).count()};
    const long woken = ::syscall(SYS_futex_waitv, waits, count + 1, 0, &when, CLOCK_MONOTONIC);
    // Not implemented by the kernel, or blocked by a container's seccomp filter.
    const bool is_expected = errno == EAGAIN || errno == ETIMEDOUT || errno == EINTR;
    if (woken < 0 && !is_expected) has_waitv_ = false;
  }

  void sleep_on_pidfds(const Peers& peers) {
    std::vector<pollfd> entries{{bell_fd_.get(), POLLIN, 0}};
    for (const std::shared_ptr<Peer>& peer : peers)
      entries.push_back({peer->pidfd.get(), POLLIN, 0});
    ::poll(entries.data(), entries.size(), Deadline::at(next_look(kLook)).poll_timeout());
    if ((entries[0].revents & POLLIN) != 0) {
      std::uint64_t count = 0;
      [[maybe_unused]] const ssize_t got = ::read(bell_fd_.get(), &count, sizeof(count));
    }
  }

  const Options options_;
  const LifePage page_;
  const Descriptor bell_fd_;
  std::atomic<std::uint32_t> bell_ = 0;
  mutable std::mutex mutex_;
  std::map<int, std::shared_ptr<Peer>> peers_;  // guarded by mutex_
  bool is_over_ = false;                        // guarded by mutex_
  bool has_waitv_ = options_.may_use_waitv;     // used only by the thread
  std::size_t slice_ = 0;                       // used only by the thread
  TimePoint next_pidfds_{};                     // used only by the thread
  bool is_beating_ = false;
  std::optional<HeartbeatLedger> ledger_;  // used only by the thread; none: no heartbeat
  std::set<int> looked_at_;                // used only by the thread
  TimePoint next_beat_{};                  // used only by the thread
  std::thread thread_;
};

Life::Life(Options options) : watcher_(std::make_unique<Watcher>(std::move(options))) {}
Life::~Life() = default;

bool Life::is_living(const MemoryFile::Proof& proof) {
  const std::optional<LifePage> page = LifePage::open(proof);
  return page && page->sign_of(page->load(0)) == LifeSign::Living;
}

MemoryFile::Proof Life::proof() const {
  return watcher_->proof();
}

bool Life::watch(int rank, const MemoryFile::Proof& proof, int place) {
  return watcher_->watch(rank, proof, place);
}

bool Life::wait_gone(int rank, Deadline deadline) const {
  return watcher_->wait_gone(rank, deadline);
}

bool Life::wait_harmless(int rank, Deadline deadline) const {
  return watcher_->wait_harmless(rank, deadline);
}

bool Life::kill(int rank, std::string_view why) const {
  return watcher_->kill(rank, why);
}

std::string Life::reason(int rank) const {
  return watcher_->reason(rank);
}

void Life::forget(int rank) {
  watcher_->forget(rank);
}

bool Life::has_left(int rank) const {
  return watcher_->has_left(rank);
}

void Life::leave(std::string_view why) {
  watcher_->stop(why);
}

}  // namespace trireme::cluster
