#include "trireme/cluster/launch/hosts/portable.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "trireme/base/error.h"
#include "trireme/cluster/launch/hosts/list/host_list.h"
#include "trireme/net/address.h"

namespace trireme::cluster::launch::hosts {

std::string meeting_address(const Hosts& hosts) {
  if (!hosts.address.empty()) return hosts.address;
  if (!hosts.interface.empty()) return net::host_address(hosts.interface);
  for (const HostRanks& host : hosts.list) {
    if (is_this_host(host.name)) continue;
    try {
      return net::address_towards(bare_name(host.name));
    } catch (const Error&) {
      // A name that only ssh can resolve.
      return net::host_address();
    }
  }
  return "127.0.0.1";
}

EnvironmentVariables portable(const EnvironmentVariables& environment) {
  constexpr std::array<std::string_view, 4> kOurs{"TRIREME_", "OMP_", "MKL_", "NCCL_"};
  constexpr std::array<std::string_view, 5> kPrivate{
      "TRIREME_SECRET", "TRIREME_STORE", "TRIREME_CACHE", "TRIREME_TERMINAL", "TRIREME_JOB"};
  const auto begins_with = [](const std::string& variable, const auto& names) {
    return std::ranges::any_of(names, [&](std::string_view n) { return variable.starts_with(n); });
  };
  EnvironmentVariables chosen;
  for (const std::string& variable : environment) {
    if (begins_with(variable, kOurs) && !begins_with(variable, kPrivate)) {
      chosen.push_back(variable);
    }
  }
  return chosen;
}

bool is_of_the_system(const std::filesystem::path& program) {
  const std::string path = std::filesystem::absolute(program).lexically_normal().string();
  constexpr std::array<std::string_view, 5> kSystem{"/usr/", "/bin/", "/sbin/", "/opt/", "/nix/"};
  return std::ranges::any_of(kSystem, [&](std::string_view at) { return path.starts_with(at); });
}

}  // namespace trireme::cluster::launch::hosts
