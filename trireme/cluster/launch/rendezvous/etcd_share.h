// EtcdShare is the part of the etcd named by --store that belongs to one job, as its launcher sees
// it: the keys under /trireme/<job's name>-<mark>/. The mark is derived from the job's secret, so
// that no other job has the same one and a replacement launcher finds it again.
//
// Empty:         if no etcd was specified; all functions do nothing then.
// Errors:        what etcd::remove_job throws; leave() returns it as text.
// Thread safety: one thread.

#pragma once

#include <optional>
#include <string>

#include "trireme/cluster/launch/job/folder.h"
#include "trireme/cluster/launch/spec.h"
#include "trireme/cluster/store/etcd/place.h"

namespace trireme::cluster::launch {

class EtcdShare {
 public:
  EtcdShare() = default;
  EtcdShare(const JobSpec& spec, const job::Folder& folder);

  const std::optional<etcd::Place>& place() const noexcept { return place_; }
  // For the ranks; empty if the store is in the job's folder.
  std::string text() const { return place_ ? place_->to_text() : std::string(); }

  // Removes the job's keys, which also checks that etcd answers.
  void clear() const;
  // Removes the job's keys for good. Returns what could not be removed and why, or "".
  std::string leave() const;

 private:
  std::optional<etcd::Place> place_;
};

}  // namespace trireme::cluster::launch
