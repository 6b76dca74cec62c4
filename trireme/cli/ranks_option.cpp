#include "trireme/cli/ranks_option.h"

#include <charconv>

#include "trireme/cluster/launch/host/cgroup.h"
#include "trireme/cluster/launch/host/cores.h"
#include "trireme/cluster/launch/host/processors.h"

namespace trireme::cli {
namespace {

namespace launch = cluster::launch;

constexpr int kRanksMax = 4096;

int ranks_for_all_cores() {
  return launch::host::plan_cores({.processors = launch::host::allowed_processors(),
                                   .quota = launch::host::Cgroup().processor_quota().value_or(0)})
      .shares.front()
      .threads;
}

}  // namespace

std::string set_ranks(int& ranks, const std::string& text) {
  if (text == "auto") {
    ranks = ranks_for_all_cores();
    return {};
  }
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, ranks);
  if (read.ec == std::errc() && read.ptr == end && ranks >= 1 && ranks <= kRanksMax) {
    return {};
  }
  return "-n " + text + ": the number of ranks is 1 to " + std::to_string(kRanksMax) +
         ", or auto: one a core";
}

}  // namespace trireme::cli
