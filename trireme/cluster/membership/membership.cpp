#include "trireme/cluster/membership/membership.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/cluster/host_id.h"
#include "trireme/cluster/liveness/heartbeat.h"
#include "trireme/cluster/liveness/life.h"
#include "trireme/cluster/liveness/life_page.h"
#include "trireme/cluster/membership/admission.h"
#include "trireme/cluster/membership/death_book.h"
#include "trireme/cluster/membership/presence_watch.h"
#include "trireme/cluster/membership/records.h"
#include "trireme/cluster/membership/role_store.h"
#include "trireme/cluster/membership/succession.h"
#include "trireme/cluster/rank_names.h"
#include "trireme/cluster/store/advance.h"

namespace trireme::cluster::membership {
namespace {

using namespace std::chrono_literals;

constexpr auto kLeaveTimeout = 2s;     // for store requests while leaving
constexpr Duration kSliceFirst = 2ms;  // waits for other members are interrupted this often to
                                       // check for deaths
constexpr Duration kSliceLast = 20ms;
constexpr const char* kItLeft = "it left";

Membership::Options completed(Membership::Options options) {
  TRIREME_CHECK(options.store != nullptr, "a membership without a store");
  TRIREME_CHECK(options.worker >= 0, "worker ", options.worker);
  if (options.size) options.first_size = options.least = options.most = *options.size;
  TRIREME_CHECK(options.size || options.most <= kPlacesMax, "a job of up to ", options.most,
                " workers");
  options.first_size = std::max(options.first_size, options.least);
  if (options.heartbeat.interval.count() == 0) {
    // Frequent enough for every limit; a limit of zero means no limit.
    Duration limit{};
    for (const Duration one : {Duration(options.heartbeat.timeout), options.stall.minimum,
                               options.stall.step_max, options.stall.phase_max}) {
      if (one.count() > 0) limit = limit.count() > 0 ? std::min(limit, one) : one;
    }
    options.heartbeat.interval = std::chrono::ceil<std::chrono::milliseconds>(limit / 5);
  }
  return options;
}

Member describe_self(const Membership::Options& options, const MemoryFile::Proof& life) {
  Member self = describe_process(options.lookup);
  self.role = options.role;
  self.rank = options.worker;
  self.size = options.size.value_or(0);
  self.job_hash = options.job_hash;
  self.life = life;
  return self;
}

}  // namespace

class Membership::Part {
 public:
  explicit Part(Options options)
      : options_(completed(std::move(options))),
        store_(*options_.store, options_.role),
        stalls_(std::make_shared<StallLedger>(options_.stall, options_.heartbeat.interval)),
        life_({.watchers = std::min(options_.size.value_or(kPlacesMax), LifePage::kWatchersMax),
               .on_death = [this](int worker) { on_end(worker, false); },
               .on_left = [this](int worker) { on_end(worker, true); },
               .heartbeat = options_.size ? kNoHeartbeat : options_.heartbeat,
               .on_silent = [this](int worker, Duration silence) { end(worker, silence); },
               .liveness = options_.liveness,
               .stalls = stalls_,
               .on_stuck = [this](int worker, const std::string& why) { evict(worker, why); },
               .on_self_stuck = options_.on_stuck}),
        self_(describe_self(options_, life_.proof())) {}

  ~Part() { leave(); }

  const Epoch& join(Deadline deadline, TimePoint begin) {
    TRIREME_CHECK(epoch_.number() == 0, "worker ", options_.worker, " has joined already");
    const Liveness::Waiting waiting(options_.liveness.get());
    const Epoch epoch = admit(store_, admission(), deadline, begin);
    watch_members(epoch);
    // In a job of fixed size only members without shared memory are watched through the store.
    if (!options_.size || watched_.size() + 1 < epoch.members().size()) {
      presence_.emplace(presence_options(epoch));
    }
    adopt(epoch, std::nullopt);
    book_.adopt(epoch, true);
    return epoch_;
  }

  const Epoch& epoch() const noexcept { return epoch_; }
  int rank() const noexcept { return epoch_.rank_of(options_.worker).value_or(-1); }
  bool is_dismissed() const noexcept { return is_dismissed_; }
  DeathBook& book() noexcept { return book_; }
  bool shares_memory_with(int worker) const {
    return worker == options_.worker || watched_.contains(worker);
  }
  bool wait_gone(int worker, Deadline deadline) const { return life_.wait_gone(worker, deadline); }
  bool is_change_wanted() const noexcept { return presence_ && presence_->is_change_wanted(); }

  void wait_for_more(Deadline deadline) {
    TRIREME_CHECK(presence_, "not joined");
    while (!book_.has_lost()) {
      if (presence_->wait_until_wanted(min(deadline, Deadline::after(kSliceLast)))) return;
      if (!deadline.is_past()) continue;
      throw Error(ErrorCode::Deadline, "no worker joined the " + std::to_string(epoch_.size()) +
                                           " workers of epoch " + std::to_string(epoch_.number()))
          .with_rank(options_.worker);
    }
  }

  Next next(ByteView report, const NextOptions& requests, Deadline deadline) {
    TRIREME_CHECK(presence_, "not joined");
    reach(options_.faults, kNextBegun, options_.worker);
    const TimePoint begin = steady_clock().now();
    Succession succession({.worker = options_.worker,
                           .current = epoch_,
                           .dead = book_.dead(),
                           .takes_new = requests.takes_new,
                           .is_join_complete = requests.is_join_complete,
                           .most = options_.most,
                           .report = Bytes(report.begin(), report.end()),
                           .cause_of = [this](int worker) { return cause_of(worker); }});
    Next result;
    do {
      agree(succession, requests, deadline);
      is_dismissed_ = succession.is_dismissed();
      result.epoch = succession.epoch();
      result.reports = succession.reports();
      reach(options_.faults, kEpochAgreed, options_.worker);
      result.gone = see_off(succession, deadline);
    } while (!book_.adopt(result.epoch, false));
    // A worker that another member declared dead must not be admitted again, even if the store
    // still shows it.
    for (const Gone& gone : result.gone) {
      if (!gone.is_dismissed) book_.report({gone.worker, gone.cause});
    }
    adopt(result.epoch, succession.presence());
    for (const Gone& gone : result.gone) life_.forget(gone.worker);
    options_.log.info("next epoch", {{"epoch", epoch_.number()},
                                     {"workers", epoch_.size()},
                                     {"rank", rank()},
                                     {"gone", result.gone.size()},
                                     {"milliseconds", (steady_clock().now() - begin) / 1.0ms}});
    return result;
  }

  std::optional<int> evict_late(std::optional<int> named, const std::string& cause) {
    std::map<int, Duration> stalled;
    Duration longest{};
    for (const EpochMember& entry : epoch_.members()) {
      if (entry.worker == options_.worker || book_.cause_of(entry.worker)) continue;
      stalled[entry.worker] = stalls_->stalled(entry.worker);
      longest = std::max(longest, stalled[entry.worker]);
    }
    // A worker that was itself held up until a moment ago is not the cause.
    const Duration least = std::max<Duration>(3 * options_.heartbeat.interval, longest / 2);
    std::set<int> late;
    for (const auto& [worker, length] : stalled) {
      if (length >= least && length.count() > 0) late.insert(worker);
    }
    if (late.empty() && named && *named != options_.worker && epoch_.contains(*named)) {
      late.insert(*named);
    }
    for (const int worker : late) evict(worker, cause);
    return late.empty() ? std::nullopt : std::optional(*late.begin());
  }

  void set_failure(std::string why) { failure_ = std::move(why); }

  void leave() noexcept {
    if (std::exchange(has_left_, true)) return;
    life_.leave(failure_);
    if (presence_) presence_->stop();
    try {
      say_end(Deadline::after(kLeaveTimeout));
    } catch (const std::exception&) {
      // The store is gone, so no other worker can be told.
    }
    presence_.reset();
    end_heartbeats();
  }

 private:
  // The launcher watches the heartbeats of a worker that is alone, and would take the end of this
  // process, which may take long, for a freeze.
  void end_heartbeats() noexcept {
    if (epoch_.size() != 1) return;
    try {
      store_.set(well_key(options_.worker), bytes_of(kWellEnd), Deadline::after(kLeaveTimeout),
                 Lifetime::Job);
    } catch (const std::exception&) {
      // Without the store there are no heartbeats, either.
    }
  }

  // Another process may have the same number: its record stays. Writing the end also wakes this
  // worker's watching thread.
  void say_end(Deadline deadline) {
    const std::string key = worker_key(options_.worker);
    const std::optional<Bytes> record = store_.get(key, deadline);
    if (record && *record != encode(self_)) return;
    if (epoch_.number() == 0) {  // it has not joined, so no member waits for it
      if (record) store_.erase(key, deadline);
      return;
    }
    const WorkerEnd end{options_.worker, failure_.empty() ? kItLeft : failure_, true};
    store_.set(end_key(options_.worker), encode(end), deadline);
    if (record) store_.erase(key, deadline);
  }

  Admission::Input admission() {
    Admission::Input input{.self = self_,
                           .first_size = options_.first_size,
                           .least = options_.least,
                           .most = options_.most,
                           .noun = "rank"};
    if (!options_.size) {
      input.is_abandoned = [this](const Epoch& old) { return is_dead(old); };
      input.noun = name_of(options_.role);
    }
    return input;
  }

  PresenceWatch::Options presence_options(const Epoch& epoch) {
    PresenceWatch::Options options{.store = &store_,
                                   .worker = options_.worker,
                                   .most = options_.most,
                                   .heartbeat = options_.heartbeat,
                                   .liveness = options_.liveness,
                                   .stalls = stalls_,
                                   .take_detected = [this] { return take_detected(); },
                                   .on_lost = [this](const WorkerEnd& end) { book_.report(end); },
                                   .on_lease_over = options_.on_lease_over};
    if (options_.size) {
      options.grace = {};
      options.duties = [this, roster = epoch.roster()] { return duties(roster); };
    }
    return options;
  }

  // Of a job of fixed size, in which a worker's number is its rank.
  std::vector<PresenceWatch::Duty> duties(const Roster& roster) const {
    const std::set<int> dead = book_.dead();
    const std::vector<int> ranks = heartbeat_duties(
        roster, options_.worker, [this](int rank) { return watched_.contains(rank); },
        [&](int rank) { return dead.contains(rank); });
    std::vector<PresenceWatch::Duty> all;
    for (const int rank : ranks) {
      all.push_back({rank, roster.host_of(rank) == roster.host_of(options_.worker)});
    }
    return all;
  }

  std::string cause_of(int worker) const { return book_.cause_of(worker).value_or("it is gone"); }

  // The life page shows that a worker on this host died or left.
  void on_end(int worker, bool has_left) {
    WorkerEnd end{worker, life_.reason(worker), has_left};
    if (end.cause.empty()) end.cause = has_left ? kItLeft : "its process died";
    book_.report(end);
    if (has_left) return;  // it tells the others itself
    const std::lock_guard lock(detected_mutex_);
    detected_.push_back(std::move(end));
  }
  std::vector<WorkerEnd> take_detected() {
    const std::lock_guard lock(detected_mutex_);
    return std::exchange(detected_, {});
  }

  bool is_beside(const EpochMember& entry) const { return entry.about.host == self_.host; }

  // A frozen process may wake up and write to shared memory, so it is killed.
  void end(int worker, Duration silence) {
    const std::string cause = "no heartbeat for " + name_seconds(silence);
    book_.accuse(worker, cause);
    options_.log.warn("a worker is frozen and is killed",
                      {{"worker", worker}, {"silence", name_seconds(silence)}});
    life_.kill(worker, cause);
  }

  // A worker on this host is killed; one on another host finds an epoch that does not contain it.
  void evict(int worker, const std::string& cause) {
    options_.log.warn("a worker is evicted", {{"worker", worker}, {"cause", cause}});
    life_.kill(worker, cause);
    // Another member may have given a reason before.
    const std::string said = life_.reason(worker);
    book_.report({worker, said.empty() ? cause : said});
  }

  bool is_dead(const Epoch& epoch) const {
    const auto entries = epoch.members();
    return std::none_of(entries.begin(), entries.end(), [&](const EpochMember& entry) {
      return !is_beside(entry) || Life::is_living(entry.about.life);
    });
  }

  // The members that are watched through the store. In a job of fixed size a worker watches itself
  // too: so it learns that others took it for dead.
  std::set<int> far_members(const Epoch& epoch) const {
    std::set<int> far;
    for (const EpochMember& entry : epoch.members()) {
      if (!watched_.contains(entry.worker)) far.insert(entry.worker);
    }
    if (!options_.size) far.erase(options_.worker);
    return far;
  }

  // Watches the members that are not watched yet; a member that cannot be watched is gone.
  void watch_members(const Epoch& epoch) {
    const std::optional<int> rank = epoch.rank_of(options_.worker);
    if (!rank) return;
    for (const EpochMember& entry : epoch.members()) {
      if (entry.worker == options_.worker || !is_beside(entry)) continue;
      if (watched_.contains(entry.worker)) continue;
      const int place = epoch.member(*rank).place;
      if (place < LifePage::kWatchersMax && life_.watch(entry.worker, entry.about.life, place)) {
        watched_.insert(entry.worker);
      } else if (!options_.size) {  // ranks of a job of fixed size need not share memory
        book_.report({entry.worker, "its process was gone before it could be watched"});
      }
    }
    if (presence_) presence_->add_far(far_members(epoch));
  }

  void agree(Succession& succession, const NextOptions& requests, Deadline deadline) {
    Duration slice = kSliceFirst;
    std::size_t decided = 0;
    for (;;) {
      for (; decided < succession.decided().size(); ++decided) {
        watch_members(succession.decided()[decided]);
        reach(options_.faults, kEpochDecided, options_.worker);
      }
      for (const int worker : book_.dead()) succession.on_death(worker);
      if (succession.is_over()) return;
      const bool was_wait = succession.request().verb == StoreVerb::Wait;
      if (!advance_waiting(succession, slice, deadline)) {
        throw Error(ErrorCode::Deadline, still_awaited(succession))
            .with_rank(options_.worker)
            .with_operation("next epoch");
      }
      if (!was_wait) continue;
      slice = std::min(slice * 2, kSliceLast);
      if (requests.while_waiting && !succession.is_over()) requests.while_waiting();
    }
  }

  bool advance_waiting(Succession& succession, Duration slice, Deadline deadline) {
    const Liveness::Waiting waiting(options_.liveness.get());
    return advance(store_, succession, slice, deadline);
  }

  static std::string still_awaited(const Succession& succession) {
    const std::vector<int> workers = succession.awaited();
    if (workers.empty()) return "the store did not answer in time";
    return name_workers(workers) + " did not report for epoch " +
           std::to_string(succession.decided().back().number()) + " in time";
  }

  // What the intermediate epochs say about the workers that are not in the last one.
  struct Departures {
    std::map<int, Gone> gone;
    std::set<int> dismissed;
    std::map<int, std::string> causes;
  };

  // Every worker that was a member of an intermediate epoch and is not in the last one: kills it
  // unless it left by itself, and waits until it cannot write any more.
  std::vector<Gone> see_off(const Succession& succession, Deadline deadline) {
    const Liveness::Waiting waiting(options_.liveness.get());
    Departures all = departures(succession);
    const std::set<int> ending = kill_remaining(all);
    std::vector<Gone> result;
    for (auto& [worker, entry] : all.gone) {
      if (ending.contains(worker) && !is_harmless(worker, deadline)) {
        throw Error(ErrorCode::Deadline, "worker " + std::to_string(worker) + ", pid " +
                                             std::to_string(entry.pid) +
                                             ", was killed and did not end in time")
            .with_rank(options_.worker);
      }
      entry.is_dismissed = all.dismissed.contains(worker) && !ending.contains(worker);
      // The cause recorded in the epoch is the same on all members; later causes mostly say that
      // other members killed the worker.
      const std::string fallback =
          "epoch " + std::to_string(succession.epoch().number()) + " goes on without it";
      const std::string seen = book_.cause_of(worker).value_or(fallback);
      const std::string& said = all.causes.try_emplace(worker, seen).first->second;
      entry.cause = entry.is_dismissed ? "the job was made smaller" : said;
      result.push_back(std::move(entry));
    }
    return result;
  }

  Departures departures(const Succession& succession) const {
    Departures all;
    const auto compare = [&](const Epoch& before) {
      for (const int worker : succession.epoch().without(before)) {
        const int pid = before.member(*before.rank_of(worker)).about.pid;
        all.gone.try_emplace(worker, Gone{worker, {}, pid, false});
      }
    };
    compare(epoch_);
    for (const Epoch& epoch : succession.decided()) {
      compare(epoch);
      all.causes.insert(epoch.causes().begin(), epoch.causes().end());
      all.dismissed.insert(epoch.dismissed().begin(), epoch.dismissed().end());
    }
    return all;
  }

  // Kills those that did not leave by themselves, and returns them.
  std::set<int> kill_remaining(const Departures& all) {
    std::set<int> ending;
    for (const auto& [worker, entry] : all.gone) {
      const bool is_dismissed = all.dismissed.contains(worker) && !book_.has_died(worker);
      if (life_.has_left(worker) || is_dismissed) continue;
      const auto cause = all.causes.find(worker);
      life_.kill(worker, cause != all.causes.end() ? cause->second : cause_of(worker));
      ending.insert(worker);
    }
    return ending;
  }

  bool is_harmless(int worker, Deadline deadline) const {
    try {
      return life_.wait_harmless(worker, deadline);
    } catch (const Error& error) {
      // It is on another host, or was gone before it could be watched.
      if (error.code() != ErrorCode::NotFound) throw;
      return true;
    }
  }

  void adopt(const Epoch& epoch, const std::optional<Presence>& presence) {
    const std::uint64_t before = epoch_.number();
    epoch_ = epoch;
    std::set<int> ignored = book_.dead();
    ignored.insert(epoch.dismissed().begin(), epoch.dismissed().end());
    if (presence_) {
      presence_->set_epoch(epoch_, std::move(ignored), far_members(epoch_), presence);
    }
    if (presence_ && rank() == 0) presence_->post_chores(epoch_.number(), before, book_.dead());
    std::erase_if(watched_, [&](int worker) { return !epoch_.contains(worker); });
  }

  const Options options_;
  RoleStore store_;
  DeathBook book_;
  const std::shared_ptr<StallLedger> stalls_;
  Life life_;
  const Member self_;
  Epoch epoch_;
  std::set<int> watched_;
  std::mutex detected_mutex_;
  std::vector<WorkerEnd> detected_;  // deaths on this host, for members on other hosts
  std::optional<PresenceWatch> presence_;
  bool is_dismissed_ = false;
  std::string failure_;  // why this worker leaves, if it failed
  bool has_left_ = false;
};

Membership::Membership(Options options) : part_(std::make_unique<Part>(std::move(options))) {}
Membership::~Membership() = default;

const Epoch& Membership::join(Deadline deadline, TimePoint begin) {
  return part_->join(deadline, begin);
}

const Epoch& Membership::epoch() const noexcept {
  return part_->epoch();
}

int Membership::rank() const noexcept {
  return part_->rank();
}

void Membership::on_gone(std::function<void(const WorkerEnd&)> callback) {
  part_->book().on_gone(std::move(callback));
}

bool Membership::shares_memory_with(int worker) const {
  return part_->shares_memory_with(worker);
}

bool Membership::wait_gone(int worker, Deadline deadline) const {
  return part_->wait_gone(worker, deadline);
}

void Membership::doubt(int worker, const std::string& cause) {
  part_->book().report({worker, cause});
}

std::optional<int> Membership::evict_late(std::optional<int> named, const std::string& cause) {
  return part_->evict_late(named, cause);
}

bool Membership::is_change_wanted() const noexcept {
  return part_->is_change_wanted();
}

void Membership::wait_for_more(Deadline deadline) {
  part_->wait_for_more(deadline);
}

Next Membership::next(ByteView report, const NextOptions& options, Deadline deadline) {
  return part_->next(report, options, deadline);
}

bool Membership::is_dismissed() const noexcept {
  return part_->is_dismissed();
}

void Membership::set_failure(std::string why) {
  part_->set_failure(std::move(why));
}

void Membership::leave() noexcept {
  part_->leave();
}

}  // namespace trireme::cluster::membership
