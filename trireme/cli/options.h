// The options that commands which start a job share: -n, --grace, --store, and those that make a
// job elastic or distribute it over hosts.
//
//   --elastic            replace workers that die
//   --min-workers N      --max-workers N      --restarts N      --orphan-timeout SECONDS
//
//   --hosts a:4,b:4      --hostfile FILE      --ssh COMMAND      --interface NAME
//   --address ADDRESS    --slurm
//
// Errors: a set_ function returns what is wrong with the text, or "". apply() throws InvalidInput
// if
//   the options contradict each other or -n, check() if they contradict --store or --elastic.

#pragma once

#include <memory>
#include <optional>
#include <string>

#include "trireme/base/clock.h"
#include "trireme/cli/command.h"
#include "trireme/cluster/launch/spec.h"

namespace trireme::cli {

inline constexpr const char* kStoreHelp = "keep the job's state in an etcd (default: in the job)";

// -n: a number from 1 to 4096, or auto: one rank per core.
std::string set_ranks(int& ranks, const std::string& text);
// --grace: the seconds that ranks have to end after SIGTERM before they are killed.
std::string set_grace(Duration& grace, const std::string& text);
// --store: the address of an etcd; the launcher chooses the job's prefix in it.
std::string set_store(std::string& store, const std::string& text);

struct ElasticWords {
  bool is_on = false;
  std::optional<int> least{};
  std::optional<int> most{};
  std::optional<int> restarts{};
  std::optional<double> orphan_timeout{};

  bool has_any() const { return least || most || restarts || orphan_timeout; }
  // Given options replace the values in spec.elastic. --elastic enables it.
  void apply(cluster::launch::JobSpec& spec) const;
};

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
void add_elastic_options(Command& command, const std::shared_ptr<ElasticWords>& words);
void add_hosts_options(Command& command, const std::shared_ptr<HostsWords>& words);

}  // namespace trireme::cli
