// Rendezvous is where the ranks of a job meet: the store that the launcher serves itself, the
// coordinator of an elastic job, which the launcher keeps running, or the etcd that the user
// specified.
//
// Errors:        begin() throws what starting a coordinator throws. A coordinator that cannot be
//                replaced later ends the job, through Ending.
// Thread safety: only the launcher's thread.
// Lifetime:      everything its options point to must outlive it.

#pragma once

#include <signal.h>
#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "trireme/base/record.h"
#include "trireme/cluster/launch/elastic/store_link.h"
#include "trireme/cluster/launch/ending.h"
#include "trireme/cluster/launch/job/folder.h"
#include "trireme/cluster/launch/rendezvous/coordinator_process.h"
#include "trireme/cluster/launch/spec.h"
#include "trireme/cluster/store/etcd/place.h"

namespace trireme::cluster::launch {

// The part of the etcd named by --store that belongs to one job, as its launcher sees it: the keys
// under /trireme/<job's name>-<mark>/. The mark is derived from the job's secret, so that no other
// job has the same one and a replacement launcher finds it again. Without --store it is empty, and
// all functions do nothing. Errors: what etcd::remove_job throws; leave() returns it as text.
class EtcdShare {
 public:
  EtcdShare() = default;
  EtcdShare(const JobSpec& spec, const job::Folder& folder);

  const std::optional<etcd::EtcdPlace>& place() const noexcept { return place_; }
  // For the ranks; empty if the store is in the job's folder.
  std::string text() const { return place_ ? place_->to_text() : std::string(); }

  // Removes the job's keys, which also checks that etcd answers.
  void clear() const;
  // Removes the job's keys for good. Returns what could not be removed and why, or "".
  std::string leave() const;

 private:
  std::optional<etcd::EtcdPlace> place_;
};

class Rendezvous {
 public:
  struct Options {
    const JobSpec* spec = nullptr;
    const job::Folder* folder = nullptr;
    Ending* ending = nullptr;
    std::function<void(std::string_view event, const Record& record)> publish;
    sigset_t mask{};
  };
  explicit Rendezvous(Options options);

  // When this returns, the store is running or starting. `listen`: for ranks on other hosts, an
  // address of this host. `is_successor`: the previous launcher was killed.
  void begin(const std::string& listen, bool is_successor);
  // tcp://... or etcd://...; empty: in the job's folder, or at the address of its control socket.
  const std::string& store() const noexcept { return store_; }
  // How the launcher itself connects to the store of an elastic job.
  StoreLink::Options link() const;
  // Empties the store. Throws Error.
  void reset();

  // True for the coordinator's process, which is replaced.
  bool on_reaped(pid_t pid);
  bool has(pid_t pid, unsigned long long start) const;
  // For a coordinator whose end is not reported to this process.
  void look_for_end();

  // Ends the coordinator.
  void end();
  // Leaves nothing in etcd. Returns what could not be removed and why, or "".
  std::string leave() const { return etcd_.leave(); }

 private:
  void on_coordinator_ended();

  Options options_;
  EtcdShare etcd_;
  std::string store_;
  std::optional<CoordinatorProcess> coordinator_;
  bool is_ended_ = false;
};

}  // namespace trireme::cluster::launch
