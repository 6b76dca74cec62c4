// The options that make a job elastic, as all commands that start one read them.
//
//   --elastic            workers that die are replaced
//   --min-workers N      --max-workers N      --restarts N      --orphan-timeout SECONDS
//
// Failure: apply() throws InvalidInput where they contradict each other or -n.

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
  // What was said replaces what spec.elastic holds. Turns it on where --elastic says so.
  void apply(cluster::launch::JobSpec& spec) const;
};

// `words` must live as long as the command.
void add_elastic_options(Command& command, const std::shared_ptr<ElasticWords>& words);

}  // namespace trireme::cli
