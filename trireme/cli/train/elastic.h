// What a recipe's section [elastic] says, for the launcher. The settings themselves are the
// worker's; a worker without the section has jobs that are elastic only by --elastic.
//
// Threads: pure.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trireme/base/config/config.h"
#include "trireme/cluster/launch/spec.h"

namespace trireme::cli {

// Nothing where the section is absent or does not say `enabled = true`.
std::optional<cluster::launch::Elastic> elastic_of(const config::Config& config);

// What the section says of an elastic job, enabled or not.
cluster::launch::Elastic elastic_settings(const config::Config& config);

// Settings that make the workers' own section say what the launcher obeys, flags included, and that
// they are on several hosts; none for a worker without the section.
std::vector<std::string> elastic_overrides(const config::Config& config,
                                           const cluster::launch::JobSpec& spec);

}  // namespace trireme::cli
