// JobPolicy decides which ranks of a job are started, and what follows when one ends. In a job that
// is not elastic all ranks start together, and the first one that fails ends the job; for the
// others see elastic/elastic_job.h.
//
// Thread safety: only the launcher's thread.
// Lifetime:      everything its options point to must outlive it.

#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "trireme/cluster/launch/ending.h"
#include "trireme/cluster/launch/job/folder.h"
#include "trireme/cluster/launch/job/service.h"
#include "trireme/cluster/launch/rank/rank_records.h"
#include "trireme/cluster/launch/rank_control.h"
#include "trireme/cluster/launch/rank_listener.h"
#include "trireme/cluster/launch/rendezvous/rendezvous.h"
#include "trireme/cluster/launch/spec.h"

namespace trireme::cluster::launch {

class JobPolicy : public HostListener {
 public:
  struct Options {
    const JobSpec* spec = nullptr;
    const job::Folder* folder = nullptr;
    RankControl* ranks = nullptr;
    RankRecords* records = nullptr;
    Rendezvous* rendezvous = nullptr;
    Ending* ending = nullptr;
    std::function<void(std::string_view event, const Record& record)> publish;
    std::function<void()> note;  // the set of ranks has changed
  };
  explicit JobPolicy(Options options);

  // The policy for options.spec.
  static std::unique_ptr<JobPolicy> make(Options options);

  // The store is running, and the hosts are connecting. `is_successor`: takes over the ranks of a
  // launcher that was killed.
  virtual void begin(bool is_successor) = 0;
  // Starts ranks or ends the job, as the current state requires.
  virtual void supervise() = 0;
  // When supervise() may have more to do if no other event happens.
  virtual Deadline next() const { return Deadline::never(); }
  // Readable when supervise() may have more to do; -1: never.
  virtual int event() const { return -1; }
  // No more ranks will be started after the live ones.
  virtual bool is_over() const = 0;
  // The ranks were stopped (Ctrl-Z), or continue: nothing that they do not do meanwhile counts.
  virtual void set_paused(bool) {}
  // Handles Scale and Join requests and answers the caller.
  virtual void on_request(const job::ControlRequest& request) = 0;
  // The job is over, whatever its state.
  virtual void end() = 0;

  void on_started(int rank, const Record& where) override;

 protected:
  const JobSpec& spec() const { return *options_.spec; }
  const Options& options() const { return options_; }
  void publish(std::string_view event, const Record& record) const {
    options_.publish(event, record);
  }

 private:
  Options options_;
};

}  // namespace trireme::cluster::launch
