// LocalHost is the ranks of a job on the host of this process: a launcher has one for a job on one
// host, and an agent for its part of a job on several.
//
// Replaced:      in an elastic job, a rank's end is handled as soon as it is seen, while the others
//                continue: what it left in its process group is killed, and its output is read.
// Takeover:      workers of a launcher that was killed are children of the front. It reports their
//                ends; once it is dead too, look_for_ends() has to look for them, and their exit
//                status is unknown.
// Errors:        see job_hosts.h and rank/ranks.h.
// Thread safety: only the launcher's thread, which must live as long as the job (see rank/spawn.h).

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "trireme/cluster/launch/host/oom.h"
#include "trireme/cluster/launch/job_hosts.h"
#include "trireme/cluster/launch/rank/ranks.h"

namespace trireme::cluster::launch {

class LocalHost final : public JobHosts {
 public:
  struct Options {
    Ranks::Options ranks{};  // their cores are determined here
    pid_t front = 0;         // the process to which ranks are reparented if this one dies; 0: none
    // Every process that end() reaps: the caller passes it to on_reaped() if it is not its own.
    std::function<void(pid_t pid, int status)> reaped{};
  };
  explicit LocalHost(const Options& options);

  void begin(RankListener& listener, const std::string& store, const std::string& feed);
  // Whether that process is one of the ranks; see host::Process.
  bool has(pid_t pid, unsigned long long start) const { return ranks_.has(pid, start); }
  // Looks for ranks that have ended and whose end is not reported to this process.
  void look_for_ends();

  void begin(HostListener& listener, const std::string& store, const std::string& feed) override {
    begin(static_cast<RankListener&>(listener), store, feed);
  }
  Ranks& ranks() override { return ranks_; }
  RankRecords& records() override { return ranks_.records(); }
  Deadline add_waits(std::vector<pollfd>& waits, bool has_room) const override;
  void pump(std::span<const pollfd> waits) override;
  void on_reaped(pid_t pid, int status) override;
  void end() override;
  bool is_running() const override { return ranks_.living() > 0 && !dead_by_.is_past(); }

 private:
  bool has_front() const;

  const pid_t front_;
  const bool is_elastic_;
  const std::function<void(pid_t pid, int status)> reaped_;
  host::OomWatch oom_watch_;
  Ranks ranks_;
  RankListener* listener_ = nullptr;
  Deadline dead_by_ = Deadline::never();  // after that a rank that is still alive cannot be killed
};

}  // namespace trireme::cluster::launch
