// ElasticWorld is who trains together: the workers of an elastic job, from epoch to epoch, and the
// group that they have in each.
//
//   auto crew = ElasticWorld::of_environment(config, job_hash);      // null: the job is not
//   elastic world->join(...);                                         // ready: taken in when
//   others allow
//                                                            // it
//   ... work in world->group() until a member is lost ...
//   ElasticWorld::Turnover change = world->next(standing, {...});     // who goes on, and where
//   they stand
//
// Failure:  Aborted where the others go on without this worker; is_dismissed() says whether that
//           was wanted. PeerLost from next() where another one dies while the group is made: next()
//           again; after such a death join() returns, and has_group() is false until next().
//           Deadline, and what the store throws. A collective of the group that comes to its
//           deadline is the loss of the worker that did not arrive: it is killed, and PeerLost.
// Threads:  one; deaths are heard of on others, and end the group.

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

#include "trireme/base/config/config.h"
#include "trireme/base/fault.h"
#include "trireme/base/liveness.h"
#include "trireme/cluster/launch/job/orphan_watch.h"
#include "trireme/cluster/membership/membership.h"
#include "trireme/cluster/store/job_store.h"
#include "trireme/comm/assembly.h"
#include "trireme/parallel/elastic_sync.h"
#include "trireme/train/recovery/elastic_config.h"

namespace trireme::train {

// How the failure of a worker begins that its peers report.
inline constexpr std::string_view kItFailed = "it failed";

class ElasticWorld {
 public:
  using End = std::function<void(const std::string& why)>;

  struct Turnover {
    std::map<int, parallel::StepStatus> statuses;  // by worker, of those who are not new
    std::vector<cluster::membership::Gone> gone;
  };

  // As TRIREME_WORKER and the rest of the environment say. `end`: nobody watches any more, or
  // nobody that decides can be reached; called on a thread of its own with the reason.
  static std::unique_ptr<ElasticWorld> of_environment(const config::Config& config,
                                                      const std::string& job_hash, Faults* faults,
                                                      End end);

  ~ElasticWorld() { self_.reset(); }

  // Where the job ends before this worker is taken in, or it is asked to stop: calls `give_up`, on
  // a thread of its own, which must end the process.
  void join(const std::atomic<bool>& is_stop_wanted, const std::function<void()>& give_up);
  // The training is done: whoever still waits need not.
  void announce_end();
  // Whether it was announced; no where nobody answers.
  bool is_end_announced();
  Turnover next(const parallel::StepStatus& step_status,
                const cluster::membership::NextOptions& options);
  // Everything here works with the group of this epoch: no other is held any more.
  void settle() noexcept { settled_ = epoch(); }
  // Until others wait to join, or somebody is lost.
  void wait_for_more(Deadline deadline) {
    const Liveness::Waiting waiting(liveness());
    membership_.wait_for_more(deadline);
  }
  bool is_change_wanted() const noexcept { return membership_.is_change_wanted(); }
  bool is_dismissed() const noexcept { return membership_.is_dismissed(); }
  // This worker failed: its peers report `why`, which begins with kItFailed, as the cause of its
  // loss.
  void set_failure(std::string why) { membership_.set_failure(std::move(why)); }
  void leave() noexcept { membership_.leave(); }
  // What this worker reports of its progress.
  Liveness* liveness() const noexcept { return liveness_.get(); }
  // Takes a worker for dead, whatever it is; from any thread.
  void doubt(int worker);

  const comm::Group& group() const noexcept { return group_; }
  bool has_group() const noexcept { return has_group_; }
  // In the epoch, whether or not its group was made.
  int rank() const noexcept { return membership_.rank(); }
  std::uint64_t epoch() const noexcept { return membership_.epoch().number(); }
  int worker() const noexcept { return worker_; }
  // Drawn once per job: the epochs of a job that had the same name before are not of this one.
  const std::string& job_id() const noexcept { return job_id_; }
  int least() const noexcept { return config_.least; }
  // By rank.
  std::vector<int> places() const;
  std::vector<int> workers() const;
  bool is_new() const;
  // Nobody has the state: it comes from a checkpoint, or begins.
  bool is_all_new() const { return membership_.epoch().is_all_new(); }

 private:
  ElasticWorld(const cluster::Environment& environment, const ElasticConfig& config,
               comm::Timeouts timeouts, const std::string& job_hash, Faults* faults, End end);

  comm::Group group_of(const cluster::membership::Epoch& epoch, const std::set<int>& having);
  cluster::membership::Next agree_on_next(ByteView report,
                                          const cluster::membership::NextOptions& options);

  int worker_;
  ElasticConfig config_;
  Duration orphan_timeout_;
  comm::Timeouts timeouts_;
  std::shared_ptr<Liveness> liveness_ = std::make_shared<Liveness>();
  std::shared_ptr<ElasticWorld*> self_ =
      std::make_shared<ElasticWorld*>(this);  // for what may outlive it
  cluster::JobStore store_;
  comm::Assembly assembly_;
  cluster::membership::Membership membership_;
  std::unique_ptr<cluster::launch::job::OrphanWatch> orphan_watch_;
  comm::Group group_ = comm::Group::solo();
  bool has_group_ = false;
  std::string job_id_;
  std::uint64_t settled_ = 0;  // the last epoch in which it was
};

}  // namespace trireme::train
