#include "trireme/cli/options.h"

#include <charconv>
#include <chrono>
#include <sstream>
#include <system_error>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/cluster/launch/host/cgroup.h"
#include "trireme/cluster/launch/host/cores.h"
#include "trireme/cluster/launch/host/processors.h"
#include "trireme/cluster/launch/hosts/list/host_list.h"
#include "trireme/cluster/launch/hosts/list/slurm.h"
#include "trireme/cluster/store/etcd/place.h"

namespace trireme::cli {
namespace {

namespace launch = cluster::launch;

constexpr int kRanksMax = 4096;
constexpr double kGraceMax = 86400;
// The host's shared memory has space for this many workers.
constexpr int kWorkersMax = 128;
constexpr int kRestartsMax = 1'000'000;
constexpr double kOrphanTimeoutMax = 7 * 86400;

int ranks_for_all_cores() {
  return launch::host::plan_cores({.processors = launch::host::allowed_processors(),
                                   .quota = launch::host::Cgroup().processor_quota().value_or(0)})
      .shares.front()
      .threads;
}

template <class Number>
Setter set_number(std::string name, std::optional<Number>& target, Number least, Number most) {
  return [=, &target](const std::string& text) -> std::string {
    Number number{};
    const char* end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, number);
    if (read.ec == std::errc() && read.ptr == end && number >= least && number <= most) {
      target = number;
      return {};
    }
    const auto shown = [](Number bound) { return std::to_string(static_cast<long>(bound)); };
    return name + " " + text + ": a number from " + shown(least) + " to " + shown(most);
  };
}

Setter set_once(std::optional<std::string>& target) {
  return [&target](const std::string& text) {
    target = text;
    return std::string();
  };
}

[[noreturn]] void refuse(const std::string& why) {
  throw Error(ErrorCode::InvalidInput, why);
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
         ", or auto: one per core";
}

std::string set_grace(Duration& grace, const std::string& text) {
  double seconds = -1;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, seconds);
  if (read.ec != std::errc() || read.ptr != end || !(seconds >= 0 && seconds <= kGraceMax)) {
    return "--grace " + text + ": a number of seconds from 0 to 86400";
  }
  grace = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
  return {};
}

std::string set_store(std::string& store, const std::string& text) {
  try {
    if (!cluster::etcd::EtcdPlace::parse(text).job.empty()) {
      return "--store " + text + ": the job's name is added by itself; end it with the port";
    }
  } catch (const Error& error) {
    return "--store " + error.message();
  }
  store = text;
  return {};
}

void ElasticWords::apply(launch::JobSpec& spec) const {
  if (is_on && !spec.elastic) spec.elastic.emplace();
  if (!spec.elastic) {
    if (has_any()) refuse("--min-workers and the like are for elastic jobs: add --elastic");
    return;
  }
  launch::Elastic& elastic = *spec.elastic;
  if (least) elastic.least = *least;
  if (most) elastic.most = *most;
  if (restarts) elastic.restarts_max = *restarts;
  if (orphan_timeout) {
    elastic.orphan_timeout =
        std::chrono::duration_cast<Duration>(std::chrono::duration<double>(*orphan_timeout));
  }
  const std::string size = std::to_string(spec.ranks);
  if (spec.ranks > kWorkersMax) {
    refuse("-n " + size + ": an elastic job has at most " + std::to_string(kWorkersMax) +
           " workers a host; start fewer with more threads each");
  }
  if (elastic.least > spec.ranks) {
    refuse("-n " + size + " is less than the least number of workers, " +
           std::to_string(elastic.least) + ": the job could never begin");
  }
  if (elastic.most < spec.ranks) {
    refuse("-n " + size + " is more than the most workers, " + std::to_string(elastic.most));
  }
}

void add_elastic_options(Command& command, const std::shared_ptr<ElasticWords>& words) {
  command.flag("--elastic", "replace workers that die; see `trireme scale` and `trireme join`",
               words->is_on);
  command.option("--min-workers", "N", "elastic: do not train with fewer workers (default 1)",
                 set_number("--min-workers", words->least, 1, kWorkersMax));
  command.option("--max-workers", "N", "elastic: maximum number of workers (default 128)",
                 set_number("--max-workers", words->most, 1, kWorkersMax));
  command.option("--restarts", "N", "elastic: replacements within 10 minutes (default 10)",
                 set_number("--restarts", words->restarts, 0, kRestartsMax));
  command.option("--orphan-timeout", "SECONDS",
                 "elastic: how long workers continue without their launcher (default 60)",
                 set_number("--orphan-timeout", words->orphan_timeout, 0.1, kOrphanTimeoutMax));
}

void HostsWords::apply(launch::JobSpec& spec, bool has_ranks) const {
  if (!hosts && !file && !is_slurm) {
    if (ssh || interface || address) {
      refuse("--ssh, --interface and --address are for jobs on several hosts: add --hosts");
    }
    return;
  }
  if (hosts.has_value() + file.has_value() + is_slurm > 1) {
    refuse("--hosts, --hostfile and --slurm: say one of them");
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
    refuse("-n " + std::to_string(spec.ranks) + " contradicts the hosts, which have " +
           std::to_string(ranks) + " ranks together; leave -n out");
  }
  if (ssh && is_slurm) refuse("--slurm reaches its nodes by srun: leave --ssh out");
  if (ssh) {
    std::istringstream in(*ssh);
    all.ssh.clear();
    for (std::string word; in >> word;) all.ssh.push_back(word);
    if (all.ssh.empty()) refuse("--ssh: a command, such as \"ssh -p 2222\"");
  }
  if (interface && address) refuse("--interface and --address: say one of them");
  all.interface = interface.value_or("");
  all.address = address.value_or("");
  spec.ranks = ranks;
  spec.hosts = std::move(all);
}

void HostsWords::check(const launch::JobSpec& spec) {
  if (!spec.hosts) return;
  if (spec.elastic && !spec.hosts->has_login_shell) {
    refuse("an elastic job reaches its hosts by ssh: leave --slurm or --elastic out");
  }
  if (!spec.store.empty() && !spec.elastic) {
    refuse("ranks on several hosts meet with the launcher: leave --hosts or --store out");
  }
}

void add_hosts_options(Command& command, const std::shared_ptr<HostsWords>& words) {
  command.option("--hosts", "HOST:N,...", "run on these hosts, N ranks on each, through ssh",
                 set_once(words->hosts));
  command.option("--hostfile", "FILE", "the same, one host per line: HOST:N or HOST slots=N",
                 set_once(words->file));
  command.flag("--slurm", "run on the nodes of this Slurm allocation, one rank per task",
               words->is_slurm);
  command.option("--ssh", "COMMAND", "how to reach a host (default: ssh -o BatchMode=yes)",
                 set_once(words->ssh));
  command.option("--interface", "NAME",
                 "hosts: the network interface that ranks use, on every host",
                 set_once(words->interface));
  command.option("--address", "ADDRESS", "hosts: the address at which other hosts reach this one",
                 set_once(words->address));
}

}  // namespace trireme::cli
