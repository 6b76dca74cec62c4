// Upkeep keeps an elastic job running: it serves the job's store through a coordinator, starts
// missing workers, restarts the job when no worker is left, and changes the number of workers on
// request.
//
// Supervision makes the decisions; the epochs come from the store (StoreLink). The launcher starts
// and kills the workers, on this host or on several: see Workers.
//
// Errors:        begin() and take_over() throw what starting a coordinator throws. Later failures
//                end the job, through Ending.
// Thread safety: only the launcher's thread.
// Lifetime:      everything its options point to must outlive it.

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
#include "trireme/cluster/launch/job/folder.h"
#include "trireme/cluster/launch/job/service.h"
#include "trireme/cluster/launch/job/worker_list.h"
#include "trireme/cluster/launch/lone_watch.h"
#include "trireme/cluster/launch/rank_exit.h"
#include "trireme/cluster/launch/spec.h"
#include "trireme/cluster/launch/store_link.h"
#include "trireme/cluster/launch/supervision.h"

namespace trireme::cluster::launch {

class Upkeep {
 public:
  // The workers, as implemented by the launcher that starts them.
  class Workers {
   public:
    virtual ~Workers() = default;
    // Starts one more worker, with these additional arguments. Returns its number. Throws Error.
    virtual int start_worker(const std::vector<std::string>& arguments) = 0;
    virtual void kill_workers() = 0;
    // Kills one worker; `why` describes its end.
    virtual void kill_worker(int worker, const std::string& why) = 0;
    // The exits of workers that were replaced no longer count as the job's failure.
    virtual void forget_exits() = 0;
    virtual int living() const = 0;
    // How many of the wanted workers there can be now: hosts may be unreachable.
    virtual int room(int wanted) const { return wanted; }
    // The set of workers has changed; records it for a launcher that takes over.
    virtual void note_workers() = 0;
    // How many workers start together from now on.
    virtual void set_size(int size) = 0;
  };

  struct Options {
    const JobSpec* spec = nullptr;  // must be elastic
    const job::Folder* folder = nullptr;
    const EtcdShare* etcd = nullptr;
    Workers* workers = nullptr;
    Ending* ending = nullptr;
    std::function<void(std::string_view event, const Record& record)> publish;
    sigset_t mask{};
    std::string listen{};  // for workers on other hosts: an address of this host; empty: none
  };
  explicit Upkeep(Options options);

  // When this returns, the store is running or starting.
  void begin();
  // The same after the previous launcher was killed.
  void take_over(const job::WorkerList& worker_list);
  // Where workers find the store: tcp://... or etcd://...; empty: in the job's folder.
  const std::string& store() const noexcept { return store_; }

  Supervision& supervision() noexcept { return supervision_; }
  const Supervision& supervision() const noexcept { return supervision_; }
  // For worker_list.json.
  job::WorkerList worker_list(int next, std::vector<job::WorkerEntry> members) const;

  // Starts missing workers, restarts the job or ends it, as the current state requires.
  void supervise();
  // When supervise() may have more to do if no other event happens.
  Deadline next() const { return supervision_.next(); }
  // Readable when supervise() may have more to do, because the members have changed; -1: never.
  int event() const { return link_ ? link_->event() : -1; }
  void clear_event() const {
    if (link_) link_->clear_event();
  }

  // Starts this number of workers now, and reports each to on_started().
  void start(int count, const std::vector<std::string>& arguments);
  // `failure`: what the worker wrote about its failure; see kFailureMark.
  void on_ended(const RankExit& exit, const std::string& failure);
  // True for the coordinator's process.
  bool on_reaped(pid_t pid);
  bool has_coordinator(pid_t pid, unsigned long long start) const;
  // For a coordinator whose end is not reported to this process.
  void look_at_coordinator();
  // Handles Scale and Join requests and answers the caller.
  void on_request(const job::ControlRequest& request);
  // Sets the wanted number, as if a user had requested it.
  void set_wanted(int count);

  // The job is over, and no more workers are started.
  void end();

 private:
  void link();
  void begin_anew(int count);
  void on_coordinator_ended();
  std::string scale(const job::ControlRequest& request);
  void note_loss(const RankExit& exit, const std::string& failure);
  void say_losses();
  void on_refused(int worker, TimePoint now);
  void on_not_started(const Error& error);

  Options options_;
  const JobSpec& spec_;
  Supervision supervision_;
  std::optional<CoordinatorProcess> coordinator_;
  LoneWatch lone_watch_;  // must outlive the link
  std::unique_ptr<StoreLink> link_;
  std::string store_;
  // Losses that the user was not told of yet: if they end the job, only its report names them.
  std::vector<std::string> losses_;
  int newest_ = -1;  // the number of the worker started last
  bool has_scaled_ = false;
  bool is_ended_ = false;
};

}  // namespace trireme::cluster::launch
