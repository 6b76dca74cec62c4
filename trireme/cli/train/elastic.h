// Reads the section [elastic] of a recipe for the launcher. The worker defines the settings; jobs
// of a worker without this section are elastic only with --elastic.
//
// Thread safety: pure functions.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trireme/base/config/config.h"
#include "trireme/cluster/launch/spec.h"

namespace trireme::cli {

// Returns nullopt if the section is missing or does not contain `enabled = true`.
std::optional<cluster::launch::Elastic> elastic_of(const config::Config& config);

// The settings of the section, whether or not it is enabled.
cluster::launch::Elastic elastic_settings(const config::Config& config);

// Overrides that give the workers the launcher's values, including command-line flags, and tell
// them whether they run on several hosts; empty for a worker without the section.
std::vector<std::string> elastic_overrides(const config::Config& config,
                                           const cluster::launch::JobSpec& spec);

}  // namespace trireme::cli
