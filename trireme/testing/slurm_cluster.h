// SlurmCluster is a real Slurm of two nodes on this host: a munged, a slurmctld and two slurmd,
// each a process of its own with its files in a temporary folder.
//
//   if (!SlurmCluster::is_installed()) GTEST_SKIP() << SlurmCluster::kMissing;
//   SlurmCluster slurm;
//   CommandProcess job({.command = {"srun", ...}, .environment = slurm.environment()});
//
// Nodes:    n1 and n2, two processors each, whatever this host has. Jobs of the partition `urgent`
//           take them from those of `all`, the usual one, who then have a minute to end and are
//           queued again.
// Failure:  Deadline when it does not come up in time, with the ends of its logs.
// Lifetime: dies with the object; jobs of its are killed with their nodes.
// Threads:  one.

#pragma once

#include <map>
#include <optional>
#include <string>

#include "trireme/base/temporary_folder.h"
#include "trireme/testing/command_process.h"

namespace trireme::testing {

class SlurmCluster {
 public:
  static constexpr const char* kMissing =
      "NOT TESTED: there is no Slurm here, or this is not root; type: sudo apt-get install "
      "slurm-wlm munge";

  // All its programs are there, and we may start them.
  static bool is_installed();

  SlurmCluster();
  ~SlurmCluster();

  // By which its clients find it.
  std::map<std::string, std::string> environment() const;
  std::string logs() const;

 private:
  void write_config();
  CommandProcess::Options daemon(const std::string& line) const;
  void wait_until_idle();
  void kill_steps() const;

  TemporaryFolder folder_{"slurm"};
  std::optional<CommandProcess> munged_, slurmctld_, node1_, node2_;
};

}  // namespace trireme::testing
