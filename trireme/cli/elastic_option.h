// The options that make a job elastic, shared by all commands that start a job.
//
//   --elastic            replace workers that die
//   --min-workers N      --max-workers N      --restarts N      --orphan-timeout SECONDS
//
// Errors: apply() throws InvalidInput if the options contradict each other or -n.

#pragma once

#include <memory>
#include <optional>

#include "trireme/cli/command.h"
#include "trireme/cluster/launch/spec.h"

namespace trireme::cli {

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

// `words` must outlive the command.
void add_elastic_options(Command& command, const std::shared_ptr<ElasticWords>& words);

}  // namespace trireme::cli
