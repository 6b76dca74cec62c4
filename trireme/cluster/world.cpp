#include "trireme/cluster/world.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/cluster/membership/admission.h"
#include "trireme/cluster/store/job_store.h"

namespace trireme::cluster {
namespace {

Member describe_self(const Environment& environment, const World::Options& options) {
  Member self = describe_process(options.lookup);
  self.rank = environment.rank;
  self.size = environment.size;
  self.job_hash = options.job_hash;
  self.addresses = options.addresses;
  return self;
}

}  // namespace

class World::Membership {
 public:
  explicit Membership(const Options& options)
      : begin_(steady_clock().now()),
        leave_timeout_(options.leave_timeout),
        environment_(Environment::read(options.lookup)),
        store_(environment_, options.lookup, options.log, deadline_of(options)),
        detector_({.rank = environment_.rank,
                   .size = environment_.size,
                   .heartbeat = options.heartbeat,
                   .store_rank = environment_.store.served_by,
                   .log = options.log},
                  store_.store()) {
    try {
      roster_.emplace(meet(options));
    } catch (...) {
      // The other ranks should read the reason from the store before the store ends.
      detector_.leave();
      if (store_.is_served_here()) wait_for_the_others(deadline_of(options));
      throw;
    }
    meeting_time_ = steady_clock().now() - begin_;
    detector_.start(*roster_, deadline_of(options));
  }

  ~Membership() {
    detector_.leave();
    if (store_.is_served_here()) wait_for_the_others(Deadline::at(begin_));
  }
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

  const Environment& environment() const noexcept { return environment_; }
  const Roster& roster() const noexcept { return *roster_; }
  Store& store() noexcept { return store_.store(); }
  const JobStore& job_store() const noexcept { return store_; }
  Duration meeting_time() const noexcept { return meeting_time_; }
  FailureDetector& detector() noexcept { return detector_; }
  std::uint64_t next_number(const std::string& use) {
    std::lock_guard lock(numbers_mutex_);
    return numbers_[use]++;
  }

 private:
  Deadline deadline_of(const Options& options) const {
    return Deadline::at(begin_ + options.timeout);
  }

  Roster meet(const Options& options) {
    const Deadline deadline = deadline_of(options);
    Member self = describe_self(environment_, options);
    self.life = detector_.proof();
    detector_.announce(deadline);
    // The ranks of a job of fixed size are workers that are all needed.
    const int size = environment_.size;
    return membership::admit(
               store_.store(),
               {.self = self, .first_size = size, .least = size, .most = size, .noun = "rank"},
               deadline, begin_)
        .roster();
  }

  static void wait_for_change(Watch& watch, Deadline deadline, std::set<std::string>& came) {
    try {
      came.insert(watch.next(deadline).key);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::Deadline) throw;
    }
  }

  // Serves until the other ranks have left, but no longer than the leave timeout. Until `coming` it
  // also waits for ranks that have not arrived yet. A rank's fate key in the store is "here" until
  // the rank leaves or its session ends.
  void wait_for_the_others(Deadline coming) noexcept {
    try {
      const Deadline deadline = Deadline::after(leave_timeout_);
      const std::string prefix = "fate/";
      const std::unique_ptr<Watch> watch = store_.store().watch(prefix, deadline);
      std::set<std::string> came;
      for (;;) {
        std::size_t here = 0;
        for (const StoreChange& fate : store_.store().list(prefix, deadline)) {
          came.insert(fate.key);
          const bool is_self = std::stoi(fate.key.substr(prefix.size())) == environment_.rank;
          if (!is_self && text_of(*fate.value) == "here") ++here;
        }
        const bool is_complete =
            coming.is_past() || static_cast<int>(came.size()) == environment_.size;
        if (is_complete && here == 0) return;
        wait_for_change(*watch, is_complete ? deadline : min(deadline, coming), came);
        if (deadline.is_past()) return;
      }
    } catch (const std::exception&) {
      // The other ranks stay longer than the leave timeout; their store ends now.
    }
  }

  const TimePoint begin_;
  const Duration leave_timeout_;
  const Environment environment_;
  JobStore store_;
  std::optional<Roster> roster_;  // declared before the detector, which reads it
  FailureDetector detector_;
  Duration meeting_time_{};
  std::mutex numbers_mutex_;
  std::map<std::string, std::uint64_t> numbers_;
};

World World::join(const Options& options) {
  return World(std::make_unique<Membership>(options));
}

World::World(std::unique_ptr<Membership> membership) : membership_(std::move(membership)) {}
World::World(World&&) noexcept = default;
World& World::operator=(World&&) noexcept = default;
World::~World() = default;

int World::rank() const noexcept {
  return membership_->environment().rank;
}

int World::size() const noexcept {
  return membership_->environment().size;
}

int World::local_rank() const noexcept {
  if (const std::optional<int> said = membership_->environment().local_rank) return *said;
  const std::vector<int>& beside = roster().ranks_beside(rank());
  return static_cast<int>(std::find(beside.begin(), beside.end(), rank()) - beside.begin());
}

int World::local_size() const noexcept {
  const std::optional<int> said = membership_->environment().local_size;
  return said.value_or(static_cast<int>(roster().ranks_beside(rank()).size()));
}

const std::string& World::job() const noexcept {
  return membership_->environment().job;
}

const std::string& World::address() const noexcept {
  return membership_->environment().address;
}

bool World::wants_checksums() const noexcept {
  return membership_->environment().wants_checksums;
}

Launcher World::launcher() const noexcept {
  return membership_->environment().launcher;
}

const Roster& World::roster() const noexcept {
  return membership_->roster();
}

Store& World::store() noexcept {
  return membership_->store();
}

std::shared_ptr<const net::Credentials> World::credentials() const noexcept {
  return membership_->job_store().credentials();
}

Duration World::meeting_time() const noexcept {
  return membership_->meeting_time();
}

std::uint64_t World::next_number(const std::string& use) {
  return membership_->next_number(use);
}

void World::on_death(std::function<void(const Death&)> callback) {
  membership_->detector().on_death(std::move(callback));
}

void World::on_leave(std::function<void(int)> callback) {
  membership_->detector().on_leave(std::move(callback));
}

bool World::shares_memory_with(int rank) const {
  return membership_->detector().shares_memory_with(rank);
}

bool World::wait_gone(int rank, Deadline deadline) const {
  return membership_->detector().wait_gone(rank, deadline);
}

}  // namespace trireme::cluster
