#include "trireme/cluster/world.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/cluster/membership/membership.h"
#include "trireme/cluster/membership/records.h"
#include "trireme/cluster/store/job_store.h"

namespace trireme::cluster {

using membership::Membership;
using membership::WorkerEnd;

class World::Part {
 public:
  explicit Part(const Options& options)
      : begin_(steady_clock().now()),
        leave_timeout_(options.leave_timeout),
        log_(options.log),
        environment_(Environment::read(options.lookup)),
        store_(environment_, options.lookup, options.log, deadline_of(options)),
        membership_({.worker = environment_.rank,
                     .size = environment_.size,
                     .job_hash = options.job_hash,
                     .heartbeat = options.heartbeat,
                     .store = &store_.store(),
                     .lookup = options.lookup,
                     .log = options.log,
                     .on_lease_over = [this](const std::string& cause) { lose_store(cause); }}) {
    try {
      roster_.emplace(membership_.join(deadline_of(options), begin_).roster());
    } catch (...) {
      // The other ranks should read the reason from the store before the store ends.
      leave(deadline_of(options));
      throw;
    }
    meeting_time_ = steady_clock().now() - begin_;
    membership_.on_gone([this](const WorkerEnd& end) {
      if (!end.has_left) log_.warn("a rank died", {{"rank", end.worker}, {"cause", end.cause}});
    });
  }

  ~Part() { leave(Deadline::at(begin_)); }
  Part(const Part&) = delete;
  Part& operator=(const Part&) = delete;

  const Environment& environment() const noexcept { return environment_; }
  const Roster& roster() const noexcept { return *roster_; }
  Store& store() noexcept { return store_.store(); }
  const JobStore& job_store() const noexcept { return store_; }
  Duration meeting_time() const noexcept { return meeting_time_; }
  Membership& membership() noexcept { return membership_; }
  std::uint64_t next_number(const std::string& use) {
    std::lock_guard lock(numbers_mutex_);
    return numbers_[use]++;
  }

 private:
  Deadline deadline_of(const Options& options) const {
    return Deadline::at(begin_ + options.timeout);
  }

  void lose_store(const std::string& cause) {
    log_.warn("the store is gone; deaths on other hosts are no longer noticed", {{"error", cause}});
    const std::optional<int> server = environment_.store.served_by;
    if (server && *server != environment_.rank) {
      membership_.doubt(*server, "the store that it serves is gone");
    }
  }

  void leave(Deadline coming) noexcept {
    membership_.leave();
    if (store_.is_served_here()) wait_for_the_others(coming);
  }

  // Serves until the other ranks have left, but no longer than the leave timeout. Until `coming` it
  // also waits for ranks that have not arrived yet. A rank's record is in the store until the rank
  // leaves or its session ends.
  void wait_for_the_others(Deadline coming) noexcept {
    try {
      const Deadline deadline = Deadline::after(leave_timeout_);
      const std::unique_ptr<Watch> watch =
          store_.store().watch(membership::kWorkerPrefix, deadline);
      std::set<int> came;
      std::set<int> here;
      const auto note = [&](const std::string& key, bool is_there) {
        const std::optional<int> ended = membership::ended_worker_in(key);
        const int rank = ended ? *ended : membership::worker_in(key).value_or(environment_.rank);
        came.insert(rank);
        if (!ended && rank != environment_.rank && is_there) here.insert(rank);
        if (!ended && !is_there) here.erase(rank);
      };
      for (const StoreChange& entry : store_.store().list(membership::kWorkerPrefix, deadline)) {
        note(entry.key, true);
      }
      while (!deadline.is_past()) {
        const bool have_come = coming.is_past() || std::ssize(came) == environment_.size;
        if (have_come && here.empty()) return;
        try {
          const StoreChange change = watch->next(have_come ? deadline : min(deadline, coming));
          note(change.key, change.value.has_value());
        } catch (const Error& error) {
          if (error.code() != ErrorCode::Deadline) throw;
        }
      }
    } catch (const std::exception&) {
      // The other ranks stay longer than the leave timeout; their store ends now.
    }
  }

  const TimePoint begin_;
  const Duration leave_timeout_;
  const Log log_;
  const Environment environment_;
  JobStore store_;
  Membership membership_;
  std::optional<Roster> roster_;
  Duration meeting_time_{};
  std::mutex numbers_mutex_;
  std::map<std::string, std::uint64_t> numbers_;
};

World World::join(const Options& options) {
  return World(std::make_unique<Part>(options));
}

World::World(std::unique_ptr<Part> part) : part_(std::move(part)) {}
World::World(World&&) noexcept = default;
World& World::operator=(World&&) noexcept = default;
World::~World() = default;

int World::rank() const noexcept {
  return part_->environment().rank;
}

int World::size() const noexcept {
  return part_->environment().size;
}

int World::local_rank() const noexcept {
  if (const std::optional<int> said = part_->environment().local_rank) return *said;
  const std::vector<int>& beside = roster().ranks_beside(rank());
  return static_cast<int>(std::find(beside.begin(), beside.end(), rank()) - beside.begin());
}

int World::local_size() const noexcept {
  const std::optional<int> said = part_->environment().local_size;
  return said.value_or(static_cast<int>(roster().ranks_beside(rank()).size()));
}

const std::string& World::job() const noexcept {
  return part_->environment().job;
}

const std::string& World::address() const noexcept {
  return part_->environment().address;
}

bool World::wants_checksums() const noexcept {
  return part_->environment().wants_checksums;
}

Launcher World::launcher() const noexcept {
  return part_->environment().launcher;
}

const Roster& World::roster() const noexcept {
  return part_->roster();
}

Store& World::store() noexcept {
  return part_->store();
}

std::shared_ptr<const net::Credentials> World::credentials() const noexcept {
  return part_->job_store().credentials();
}

Duration World::meeting_time() const noexcept {
  return part_->meeting_time();
}

std::uint64_t World::next_number(const std::string& use) {
  return part_->next_number(use);
}

void World::on_death(std::function<void(const Death&)> callback) {
  part_->membership().on_gone([callback = std::move(callback)](const WorkerEnd& end) {
    if (!end.has_left) callback({end.worker, end.cause});
  });
}

void World::on_leave(std::function<void(int)> callback) {
  part_->membership().on_gone([callback = std::move(callback)](const WorkerEnd& end) {
    if (end.has_left) callback(end.worker);
  });
}

bool World::shares_memory_with(int rank) const {
  return part_->membership().shares_memory_with(rank);
}

bool World::wait_gone(int rank, Deadline deadline) const {
  return part_->membership().wait_gone(rank, deadline);
}

}  // namespace trireme::cluster
