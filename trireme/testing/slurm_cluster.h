// SlurmCluster is a real Slurm cluster with two nodes on this host: a munged, a slurmctld and two
// slurmd processes, with their files in a temporary folder.
//
//   if (!SlurmCluster::is_installed()) GTEST_SKIP() << SlurmCluster::kMissing;
//   SlurmCluster slurm;
//   CommandProcess job({.command = {"srun", ...}, .environment = slurm.environment()});
//
// Nodes:         n1 and n2 with two processors each, independent of this host. Jobs in the
//                partition `urgent` preempt those in the default partition `all`, which then have a
//                minute to end and are requeued.
// Errors:        Deadline with the ends of its logs, if it does not start in time.
// Lifetime:      the cluster is stopped with the object; its jobs are killed with their nodes.
// Thread safety: one thread at a time.

#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>

#include "trireme/base/file/temporary_folder.h"
#include "trireme/testing/command_process.h"
#include "trireme/testing/held_port.h"

namespace trireme::testing {

class SlurmCluster {
 public:
  static constexpr const char* kMissing =
      "NOT TESTED: there is no Slurm here, or this is not root; type: sudo apt-get install "
      "slurm-wlm munge";

  // True if all its programs are installed and this user may start them.
  static bool is_installed();

  SlurmCluster();
  ~SlurmCluster();

  // The environment with which Slurm's client commands find it.
  std::map<std::string, std::string> environment() const;
  std::string logs() const;

 private:
  void write_config();
  CommandProcess::Options daemon(const std::string& line) const;
  void wait_until_idle();
  void kill_steps() const;

  TemporaryFolder folder_{"slurm", "/tmp"};  // a short path, because munge has a socket in it
  std::array<HeldPort, 3> ports_;            // one per daemon
  std::optional<CommandProcess> munged_, slurmctld_, node1_, node2_;
};

}  // namespace trireme::testing
