#include "trireme/cli/hosts_option.h"

#include <sstream>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/cluster/launch/hosts/list/host_list.h"
#include "trireme/cluster/launch/hosts/list/slurm.h"

namespace trireme::cli {
namespace {

namespace launch = cluster::launch;

Setter set_once(std::optional<std::string>& target) {
  return [&target](const std::string& text) {
    target = text;
    return std::string();
  };
}

[[noreturn]] void refuse_hosts(const std::string& why) {
  throw Error(ErrorCode::InvalidInput, why);
}

}  // namespace

void HostsWords::apply(launch::JobSpec& spec, bool has_ranks) const {
  if (!hosts && !file && !is_slurm) {
    if (ssh || interface || address) {
      refuse_hosts("--ssh, --interface and --address are for jobs on several hosts: add --hosts");
    }
    return;
  }
  if (hosts.has_value() + file.has_value() + is_slurm > 1) {
    refuse_hosts("--hosts, --hostfile and --slurm: say one of them");
  }
  launch::Hosts all{.list = hosts  ? launch::hosts::parse_hosts(*hosts)
                            : file ? launch::hosts::read_hostfile(*file)
                                   : launch::hosts::slurm_hosts(cluster::process_environment)};
  if (is_slurm) {
    all.ssh = launch::hosts::slurm_shell();
    all.has_login_shell = false;
  }
  int ranks = 0;
  for (const launch::hosts::HostRanks& host : all.list) ranks += host.ranks;
  if (has_ranks && spec.ranks != ranks) {
    refuse_hosts("-n " + std::to_string(spec.ranks) + " contradicts the hosts, which have " +
                 std::to_string(ranks) + " ranks together; leave -n out");
  }
  if (ssh && is_slurm) refuse_hosts("--slurm reaches its nodes by srun: leave --ssh out");
  if (ssh) {
    std::istringstream in(*ssh);
    all.ssh.clear();
    for (std::string word; in >> word;) all.ssh.push_back(word);
    if (all.ssh.empty()) refuse_hosts("--ssh: a command, such as \"ssh -p 2222\"");
  }
  if (interface && address) refuse_hosts("--interface and --address: say one of them");
  all.interface = interface.value_or("");
  all.address = address.value_or("");
  spec.ranks = ranks;
  spec.hosts = std::move(all);
}

void HostsWords::check(const launch::JobSpec& spec) {
  if (!spec.hosts) return;
  if (spec.elastic && !spec.hosts->has_login_shell) {
    refuse_hosts("an elastic job reaches its hosts by ssh: leave --slurm or --elastic out");
  }
  if (!spec.store.empty() && !spec.elastic) {
    refuse_hosts("ranks on several hosts meet with the launcher: leave --hosts or --store out");
  }
}

void add_hosts_options(Command& command, const std::shared_ptr<HostsWords>& words) {
  command.option("--hosts", "HOST:N,...", "run on these hosts, N ranks on each, through ssh",
                 set_once(words->hosts));
  command.option("--hostfile", "FILE", "the same, a host a line: HOST:N or HOST slots=N",
                 set_once(words->file));
  command.flag("--slurm", "run on the nodes of this Slurm allocation, a rank a task",
               words->is_slurm);
  command.option("--ssh", "COMMAND", "how to reach a host (default: ssh -o BatchMode=yes)",
                 set_once(words->ssh));
  command.option("--interface", "NAME", "hosts: the network interface to meet on, on every host",
                 set_once(words->interface));
  command.option("--address", "ADDRESS", "hosts: where the others reach this host",
                 set_once(words->address));
}

}  // namespace trireme::cli
