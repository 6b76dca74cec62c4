#include "trireme/cluster/life.h"

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
#include <thread>
#include <utility>
#include <vector>

#include "trireme/base/check.h"
#include "trireme/base/descriptor.h"
#include "trireme/base/error.h"
#include "trireme/cluster/life_page.h"
#include "trireme/cluster/robust_list.h"

namespace trireme::cluster {
namespace {

using namespace std::chrono_literals;

// How long the thread sleeps at most: pidfds are looked at this often. With more peers than one
// futex_waitv(2) takes, it goes through them in slices, faster.
constexpr Duration kLook = 1s;
constexpr Duration kLookSliced = 10ms;
constexpr std::size_t kSlice = FUTEX_WAITV_MAX - 1;  // one place is for our own bell

Descriptor open_pidfd(int pid) {
  return Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

bool is_gone(const Descriptor& pidfd) {
  pollfd entry{pidfd.get(), POLLIN, 0};
  return ::poll(&entry, 1, 0) == 1;
}

struct Peer {
  int rank = 0;
  int place = 0;
  LifePage page;
  Descriptor pidfd;
  bool is_over = false;
};

}  // namespace

class Life::Watcher {
 public:
  explicit Watcher(Options options)
      : options_(std::move(options)), page_(LifePage::make()), bell_fd_(::eventfd(0, EFD_CLOEXEC)) {
    if (!bell_fd_) throw system_error("cannot make an eventfd", errno);
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

  ~Watcher() { stop(); }

  MemoryFile::Proof proof() const { return page_.proof(); }

  bool watch(int rank, const MemoryFile::Proof& proof, int place) {
    // The pidfd first: if it still lives after the nonce was read, it is the process that has it.
    Descriptor pidfd = open_pidfd(proof.pid);
    if (!pidfd) return false;
    std::optional<LifePage> page = LifePage::open(proof);
    if (!page || is_gone(pidfd)) return false;
    const std::lock_guard lock(mutex_);
    auto peer =
        std::make_shared<Peer>(Peer{rank, place, *std::move(page), std::move(pidfd), false});
    TRIREME_CHECK(peers_.emplace(rank, peer).second, "rank ", rank, " is watched already");
    ring();
    return true;
  }

  bool wait_gone(int rank, Deadline deadline) const {
    std::shared_ptr<Peer> peer;
    {
      const std::lock_guard lock(mutex_);
      const auto it = peers_.find(rank);
      if (it == peers_.end()) {
        throw Error(ErrorCode::NotFound, "rank " + std::to_string(rank) + " is not watched");
      }
      peer = it->second;
    }
    pollfd entry{peer->pidfd.get(), POLLIN, 0};
    int count = 0;
    do {
      count = ::poll(&entry, 1, deadline.poll_timeout());
    } while (count < 0 && errno == EINTR);
    return count == 1;
  }

  bool has_left(int rank) const {
    const std::lock_guard lock(mutex_);
    const auto it = peers_.find(rank);
    if (it == peers_.end()) return false;
    const Peer& peer = *it->second;
    return peer.page.sign_of(peer.page.load(peer.place)) == LifeSign::Left;
  }

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
      ring();
    }
    if (thread_.joinable()) thread_.join();
  }

 private:
  using Peers = std::vector<std::shared_ptr<Peer>>;

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
      if (has_waitv_) {
        sleep_on_words(*peers, bell);
      } else {
        sleep_on_pidfds(*peers);
      }
    }
  }

  // Nothing when it is time to end.
  std::optional<Peers> living() const {
    const std::lock_guard lock(mutex_);
    if (is_over_) return std::nullopt;
    Peers peers;
    for (const auto& [rank, peer] : peers_) {
      if (!peer->is_over) peers.push_back(peer);
    }
    return peers;
  }

  // True if somebody is no longer there.
  bool look_at(const Peers& peers) {
    const TimePoint now = steady_clock().now();
    const bool asks_pidfds = !has_waitv_ || now >= next_pidfds_;
    if (asks_pidfds) next_pidfds_ = now + kLook;
    bool has_news = false;
    for (const std::shared_ptr<Peer>& peer : peers) {
      LifeSign sign = peer->page.sign_of(peer->page.load(peer->place));
      if (sign == LifeSign::Living && asks_pidfds && is_gone(peer->pidfd)) {
        // Gone, and nobody marked the word: whether it left is what the page says.
        sign = peer->page.sign_of(FUTEX_OWNER_DIED);
      }
      if (sign == LifeSign::Living) continue;
      has_news = true;
      {
        const std::lock_guard lock(mutex_);
        peer->is_over = true;
      }
      if (sign == LifeSign::Died && options_.on_death) options_.on_death(peer->rank);
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
    const auto until = (steady_clock().now() + most).time_since_epoch();
    const auto seconds = std::chrono::floor<std::chrono::seconds>(until);
    const timespec when{seconds.count(), (until - seconds).count()};
    const long woken = ::syscall(SYS_futex_waitv, waits, count + 1, 0, &when, CLOCK_MONOTONIC);
    // Missing, or forbidden by a container's filter.
    const bool is_expected = errno == EAGAIN || errno == ETIMEDOUT || errno == EINTR;
    if (woken < 0 && !is_expected) has_waitv_ = false;
  }

  void sleep_on_pidfds(const Peers& peers) {
    std::vector<pollfd> entries{{bell_fd_.get(), POLLIN, 0}};
    for (const std::shared_ptr<Peer>& peer : peers)
      entries.push_back({peer->pidfd.get(), POLLIN, 0});
    ::poll(entries.data(), entries.size(), std::chrono::milliseconds(kLook / 1ms).count());
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
  bool has_waitv_ = options_.may_use_waitv;     // of the thread
  std::size_t slice_ = 0;                       // of the thread
  TimePoint next_pidfds_{};                     // of the thread
  std::thread thread_;
};

Life::Life(Options options) : watcher_(std::make_unique<Watcher>(std::move(options))) {}
Life::~Life() = default;

MemoryFile::Proof Life::proof() const {
  return watcher_->proof();
}

bool Life::watch(int rank, const MemoryFile::Proof& proof, int place) {
  return watcher_->watch(rank, proof, place);
}

bool Life::wait_gone(int rank, Deadline deadline) const {
  return watcher_->wait_gone(rank, deadline);
}

bool Life::has_left(int rank) const {
  return watcher_->has_left(rank);
}

void Life::leave() {
  watcher_->stop();
}

}  // namespace trireme::cluster
