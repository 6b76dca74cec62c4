// Upkeep keeps an elastic job going: it serves the job's store through a coordinator, starts
// whoever is missing, begins anew when nobody is left, and changes how many there are when people
// want it.
//
// What it decides is Supervision's; what it knows of epochs comes from the store (StoreLink). How
// workers are started and killed is the launcher's, on this host or on several: see Workers.
//
// Threads:  one, the launcher's.
// Failure:  begin() and take_over() throw what starting a coordinator throws. Later troubles end
// the
//           job, through Ending.
// Lifetime: what its options point to must outlive it.

#pragma once

#include <signal.h>
#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/deadline.h"
#include "trireme/base/record.h"
#include "trireme/cluster/launch/coordinator_process.h"
#include "trireme/cluster/launch/ending.h"
#include "trireme/cluster/launch/etcd_share.h"
#include "trireme/cluster/launch/job/crew.h"
#include "trireme/cluster/launch/job/folder.h"
#include "trireme/cluster/launch/job/service.h"
#include "trireme/cluster/launch/lone_watch.h"
#include "trireme/cluster/launch/rank_exit.h"
#include "trireme/cluster/launch/spec.h"
#include "trireme/cluster/launch/store_link.h"
#include "trireme/cluster/launch/supervision.h"

namespace trireme::cluster::launch {

class Upkeep {
 public:
  // The workers, as whoever starts them knows them.
  class Workers {
   public:
    virtual ~Workers() = default;
    // One more, with these arguments besides the job's. Returns its number. Throws Error.
    virtual int start_worker(const std::vector<std::string>& arguments) = 0;
    virtual void kill_workers() = 0;
    // What was replaced is no longer anybody's reason to fail.
    virtual void forget_exits() = 0;
    virtual int living() const = 0;
    // How many of those that are wanted there can be now: hosts may be out of reach.
    virtual int room(int wanted) const { return wanted; }
    // Who they are has changed: somebody who takes over wants to know.
    virtual void note_workers() = 0;
    // How many begin together from now on.
    virtual void set_size(int size) = 0;
  };

  struct Options {
    const JobSpec* spec = nullptr;  // of an elastic job
    const job::Folder* folder = nullptr;
    const EtcdShare* etcd = nullptr;
    Workers* workers = nullptr;
    Ending* ending = nullptr;
    std::function<void(std::string_view event, const Record& record)> publish;
    sigset_t mask{};
    std::string listen{};  // for workers of other hosts: an address of this one; empty: none
  };
  explicit Upkeep(Options options);

  // The store is there, or on its way, when this returns.
  void begin();
  // The same after a launcher that was killed.
  void take_over(const job::Crew& crew);
  // Where workers find it: tcp://... or etcd://...; empty: in the job's folder.
  const std::string& store() const noexcept { return store_; }

  Supervision& supervision() noexcept { return supervision_; }
  const Supervision& supervision() const noexcept { return supervision_; }
  // For crew.json.
  job::Crew crew(int next, std::vector<job::CrewMember> members) const;

  // Starts whoever is missing, begins anew or ends the job, as things are now.
  void supervise();
  // When it would do more, if nothing else happens.
  Deadline next() const { return supervision_.next(); }

  // As many as these now; told of each by on_started().
  void start(int count, const std::vector<std::string>& arguments);
  void on_ended(const RankExit& exit);
  // True for the coordinator's process.
  bool on_reaped(pid_t pid);
  bool has_coordinator(pid_t pid, unsigned long long start) const;
  // For a coordinator of whose end nobody would tell us.
  void look_at_coordinator();
  // Scale and Join; whoever asked is answered.
  void on_wish(const job::Wish& wish);
  // Fewer from now on, as if somebody had said so.
  void set_wanted(int count);

  // The job is over, and nobody is started any more.
  void end();

 private:
  void link();
  void begin_anew(int count);
  void on_coordinator_ended();
  std::string scale(const job::Wish& wish);
  void on_not_started(const Error& error);

  Options options_;
  const JobSpec& spec_;
  Supervision supervision_;
  std::optional<CoordinatorProcess> coordinator_;
  LoneWatch lone_watch_;  // outlives the link
  std::unique_ptr<StoreLink> link_;
  std::string store_;
  int newest_ = -1;  // the number of the worker started last
  bool has_scaled_ = false;
  bool is_ended_ = false;
};

}  // namespace trireme::cluster::launch
