// The options that distribute a job over hosts, shared by all commands that start a job.
//
//   --hosts a:4,b:4      --hostfile FILE      --ssh COMMAND      --interface NAME
//   --address ADDRESS    --slurm
//
// Errors: apply() throws InvalidInput if the options contradict each other or -n, check() if they
//   contradict --store or --elastic.

#pragma once

#include <memory>
#include <optional>
#include <string>

#include "trireme/cli/command.h"
#include "trireme/cluster/launch/spec.h"

namespace trireme::cli {

struct HostsWords {
  std::optional<std::string> hosts{};
  std::optional<std::string> file{};
  std::optional<std::string> ssh{};
  std::optional<std::string> interface{};
  std::optional<std::string> address{};
  bool is_slurm = false;

  // `has_ranks`: -n was given. Call apply() before any code that reads spec.ranks, and check()
  // after the rest of the job is known.
  void apply(cluster::launch::JobSpec& spec, bool has_ranks) const;
  static void check(const cluster::launch::JobSpec& spec);
};

// `words` must outlive the command.
void add_hosts_options(Command& command, const std::shared_ptr<HostsWords>& words);

}  // namespace trireme::cli
