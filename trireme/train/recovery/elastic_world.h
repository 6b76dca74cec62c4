// ElasticWorld is the membership of an elastic job as one worker sees it: the members of each
// epoch, and the communication group of that epoch.
//
//   auto world = ElasticWorld::of_environment(job, ...);  // null: the job is not elastic
//   world->join(...);                       // this worker is ready; waits until it is a member
//   ... use world->group() until a member is lost ...
//   auto change = world->next(status, ...);  // the next epoch: its members and their step statuses
//
// Errors:        Aborted if the other members continue without this worker; is_dismissed() tells
//                whether that was requested. next() throws PeerLost if another worker dies while
//                the group is built: call next() again. After such a failure join() returns, and
//                has_group() is false until next() succeeds. Deadline, and what the store throws.
//                If a collective of the group reaches its deadline, the worker that did not arrive
//                is killed, and the collective throws PeerLost.
// Thread safety: one thread. Other threads detect failures and abort the group.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/fault.h"
#include "trireme/base/liveness.h"
#include "trireme/cluster/launch/job/job_watch.h"
#include "trireme/cluster/membership/membership.h"
#include "trireme/cluster/store/job_store.h"
#include "trireme/comm/assembly.h"
#include "trireme/parallel/commit_journal.h"
#include "trireme/train/job.h"
#include "trireme/train/recovery/elastic_config.h"

namespace trireme::train {

// The beginning of the cause that peers report for a worker that failed with an error.
inline constexpr std::string_view kItFailed = "it failed";

class ElasticWorld {
 public:
  using End = std::function<void(const std::string& why)>;

  struct Turnover {
    std::map<int, parallel::StepStatus> statuses;  // by worker; new workers have none
    std::vector<cluster::membership::Gone> gone;
  };

  // Reads TRIREME_WORKER and other environment variables. Null if the job is not elastic. `end` is
  // called with the reason, on a separate thread, when the launcher is dead or the members that
  // decide on epochs cannot be reached.
  static std::unique_ptr<ElasticWorld> of_environment(const Job& job, Faults* faults, End end);
  // The same for a training loop without a recipe. Workers whose `job_hash` differs from that of
  // the first worker cannot join.
  static std::unique_ptr<ElasticWorld> of_environment(const ElasticConfig& limits,
                                                      const std::string& job_hash, End end);

  ~ElasticWorld();

  // Waits until this worker is a member. If the job ends first, or this worker is asked to stop, it
  // calls `give_up` on a separate thread, which must end the process.
  void join(const std::atomic<bool>& is_stop_wanted, const std::function<void()>& give_up);
  // Announces that training is complete, so that workers that wait to join can exit.
  void announce_end();
  // Whether the end was announced; false if the store does not answer.
  bool is_end_announced();
  Turnover next(const parallel::StepStatus& step_status,
                const cluster::membership::NextOptions& options);
  // Declares that this worker uses only the group of the current epoch and none of earlier ones.
  void settle() noexcept { settled_ = epoch(); }
  // Waits until other workers want to join, or a member is lost.
  void wait_for_more(Deadline deadline);
  bool is_change_wanted() const noexcept { return membership_.is_change_wanted(); }
  bool is_dismissed() const noexcept { return membership_.is_dismissed(); }
  // This worker failed: its peers report `why`, which begins with kItFailed, as the cause of its
  // loss.
  void set_failure(std::string why) { membership_.set_failure(std::move(why)); }
  void leave() noexcept { membership_.leave(); }
  // Declares a worker dead, whether it is or not. Any thread may call it.
  void doubt(int worker);

  const comm::Group& group() const noexcept { return group_; }
  bool has_group() const noexcept { return has_group_; }
  // The rank in the current epoch, whether or not its group was built.
  int rank() const noexcept { return membership_.rank(); }
  std::uint64_t epoch() const noexcept { return membership_.epoch().number(); }
  int worker() const noexcept { return worker_; }
  // Drawn at random once per job. It distinguishes the epochs of this job from those of an earlier
  // job with the same name.
  const std::string& job_id() const noexcept { return job_id_; }
  int least() const noexcept { return config_.least; }
  // By rank.
  std::vector<int> places() const;
  std::vector<int> workers() const;
  bool is_new() const;

 private:
  // What the two kinds of training loops set.
  struct Options {
    ElasticConfig limits{};
    comm::Timeouts timeouts{};
    std::string job_hash{};
    std::shared_ptr<Liveness> liveness{};  // of this worker
    Faults* faults = nullptr;
    End end;
  };
  ElasticWorld(const cluster::Environment& environment, const Options& options);

  comm::Group group_of(const cluster::membership::Epoch& epoch, const std::set<int>& having);
  cluster::membership::Next agree_on_next(ByteView report,
                                          const cluster::membership::NextOptions& options);

  int worker_;
  ElasticConfig config_;
  Duration orphan_timeout_;
  comm::Timeouts timeouts_;
  std::shared_ptr<Liveness> liveness_;
  std::shared_ptr<ElasticWorld*> self_ =
      std::make_shared<ElasticWorld*>(this);  // for callbacks that may outlive this object
  cluster::JobStore store_;
  comm::Assembly assembly_;
  cluster::membership::Membership membership_;
  std::unique_ptr<cluster::launch::job::JobWatch> job_watch_;
  comm::Group group_ = comm::Group::solo();
  bool has_group_ = false;
  std::string job_id_;
  std::uint64_t settled_ = 0;  // the epoch of the last call of settle()
};

}  // namespace trireme::train
