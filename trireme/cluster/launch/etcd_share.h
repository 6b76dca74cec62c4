// EtcdShare is a job's own part of the etcd that --store names, as its launcher sees it: the keys
// under /trireme/<job's name>-<mark>/. The mark comes from the job's secret, so that no other job
// ever has the same, and whoever launches after us finds it again.
//
// Empty:   where no etcd was named; then nothing here does anything.
// Failure: what etcd::remove_job throws; leave() says it.
// Threads: one.

#pragma once

#include <optional>
#include <string>

#include "trireme/cluster/etcd/place.h"
#include "trireme/cluster/launch/job/folder.h"
#include "trireme/cluster/launch/spec.h"

namespace trireme::cluster::launch {

class EtcdShare {
 public:
  EtcdShare() = default;
  EtcdShare(const JobSpec& spec, const job::Folder& folder);

  const std::optional<etcd::Place>& place() const noexcept { return place_; }
  // For the ranks; empty where the store is in the job's folder.
  std::string text() const { return place_ ? place_->to_text() : std::string(); }

  // Removes what the job has there, and so finds out whether etcd answers.
  void clear() const;
  // Removes it for good. Returns what was left there and why, or "".
  std::string leave() const;

 private:
  std::optional<etcd::Place> place_;
};

}  // namespace trireme::cluster::launch
