#include "trireme/cluster/launch/hosts/dispatch.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "trireme/base/file/file.h"
#include "trireme/cluster/launch/hosts/portable.h"
#include "trireme/cluster/launch/hosts/protocol/bootstrap.h"
#include "trireme/cluster/launch/rank/program.h"

namespace trireme::cluster::launch::hosts {
namespace {

namespace fs = std::filesystem;

std::string without_newline(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

bool needs_ssh(const Hosts& hosts) {
  return std::ranges::any_of(hosts.list, [](const auto& host) { return !is_this_host(host.name); });
}

JobFile describe_self(const Hosts& hosts) {
  if (!needs_ssh(hosts)) return {};
  JobFile self = JobFile::of("/proc/self/exe");
  self.path = fs::read_symlink("/proc/self/exe");
  return self;
}

StartOrder common_order(const LauncherOptions& options) {
  const JobSpec& spec = *options.spec;
  StartOrder order;
  order.job = options.folder->name();
  order.secret = without_newline(read_file(options.folder->secret()));
  order.size = spec.ranks;
  order.command = spec.command;
  order.program = spec.program.string();
  order.folder = fs::current_path().string();
  order.environment = portable(own_environment());
  order.interface = spec.hosts->interface;
  order.bind = spec.bind;
  order.grace = spec.grace;
  order.memory_each = spec.memory_each;
  order.threads_each = spec.threads_each;
  if (spec.elastic) order.orphan_timeout = spec.elastic->orphan_timeout;
  if (!is_of_the_system(spec.program)) order.job_file.push_back(JobFile::of(spec.program));
  for (const fs::path& file : spec.hosts->files) order.job_file.push_back(JobFile::of(file));
  return order;
}

}  // namespace

std::vector<HostLink::Options> dispatches(const LauncherOptions& options, const std::string& store,
                                          const std::string& feed) {
  const Hosts& hosts = *options.spec->hosts;
  const JobFile self = describe_self(hosts);
  const std::string ssh = needs_ssh(hosts) ? find_program(hosts.ssh.front()).string() : "";
  StartOrder order = common_order(options);
  order.store = store;
  order.feed = feed;
  std::vector<HostLink::Options> all;
  for (const HostRanks& host : hosts.list) {
    order.ranks = host.ranks;
    const bool is_here = is_this_host(host.name);
    HostLink::Options link{.host = host.name,
                           .command = {"trireme", "agent"},
                           .program = "/proc/self/exe",
                           .is_ssh = !is_here,
                           .dies_with_us = !is_here || !options.spec->elastic,
                           .self = self,
                           .order = order,
                           .mask = options.signals->mask_before()};
    if (link.is_ssh) {
      link.program = ssh;
      link.command = hosts.ssh;
      link.command.push_back(host.name);
      if (!hosts.has_login_shell) link.command.insert(link.command.end(), {"/bin/sh", "-c"});
      link.command.push_back(bootstrap_line(self));
    }
    all.push_back(std::move(link));
    order.first += host.ranks;
    ++order.host;
  }
  return all;
}

}  // namespace trireme::cluster::launch::hosts
