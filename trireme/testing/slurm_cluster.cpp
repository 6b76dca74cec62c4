#include "trireme/testing/slurm_cluster.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <iterator>

#include "trireme/base/entropy.h"
#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/cluster/launch/host/process_tree.h"

namespace trireme::testing {
namespace {

using namespace std::chrono_literals;

constexpr auto kSlurmStartTime = 40s;
constexpr std::array<const char*, 4> kDaemons{"/usr/sbin/munged", "/usr/sbin/slurmctld",
                                              "/usr/sbin/slurmd", "/usr/bin/srun"};

std::string own_host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

}  // namespace

bool SlurmCluster::is_installed() {
  if (geteuid() != 0) return false;
  for (const char* path : kDaemons) {
    if (access(path, X_OK) != 0) return false;
  }
  return true;
}

void SlurmCluster::write_config() {
  const std::string at = folder_.path().string();
  const std::string host = own_host_name();
  std::string config = "ClusterName=test\nSlurmctldHost=" + host + "(127.0.0.1)\n";
  config +=
      "SlurmctldPort=" + std::to_string(ports_[0].number()) + "\nSlurmUser=root\nSlurmdUser=root\n";
  config += "AuthType=auth/munge\nCredType=cred/munge\nAuthInfo=socket=" + at + "/munge.socket\n";
  config += "StateSaveLocation=" + at + "/state\nSlurmdSpoolDir=" + at + "/spool-%n\n";
  config += "SlurmctldPidFile=" + at + "/ctld.pid\nSlurmdPidFile=" + at + "/%n.pid\n";
  config += "ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nMpiDefault=none\n";
  config += "SelectType=select/cons_tres\nSchedulerType=sched/builtin\nReturnToService=2\n";
  config += "JobAcctGatherType=jobacct_gather/none\n";
  config += "AccountingStorageType=accounting_storage/none\n";
  config += "SlurmdParameters=config_overrides\nInactiveLimit=0\nKillWait=5\n";
  for (int i = 1; i <= 2; ++i) {
    config +=
        "NodeName=n" + std::to_string(i) + " NodeHostname=" + host +
        " NodeAddr=127.0.0.1 Port=" + std::to_string(ports_[static_cast<std::size_t>(i)].number()) +
        " CPUs=2 State=UNKNOWN\n";
  }
  config += "PreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\n";
  config += "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP PriorityTier=1 ";
  config += "PreemptMode=REQUEUE GraceTime=60\n";
  config += "PartitionName=urgent Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=9\n";
  write_file_atomically(folder_.path() / "slurm.conf", config);
}

CommandProcess::Options SlurmCluster::daemon(const std::string& line) const {
  const std::string at = folder_.path().string();
  return {.command = {"/bin/sh", "-c",
                      "exec setpriv --pdeathsig KILL " + line + " >>" + at + "/log 2>&1"},
          .environment = environment()};
}

SlurmCluster::SlurmCluster() {
  const std::string at = folder_.path().string();
  write_file_atomically(folder_.path() / "munge.key", secure_random_hex(64), {.mode = 0400});
  std::filesystem::create_directory(folder_.path() / "state");
  write_config();
  munged_.emplace(daemon("/usr/sbin/munged --foreground --force --key-file " + at +
                         "/munge.key --socket " + at + "/munge.socket --pid-file " + at +
                         "/munge.pid --seed-file " + at + "/munge.seed --log-file " + at +
                         "/munge.log"));
  const Deadline deadline = Deadline::after(kSlurmStartTime);
  while (access((at + "/munge.socket").c_str(), F_OK) != 0) {
    if (deadline.is_past()) throw Error(ErrorCode::Deadline, "munged does not start: " + logs());
    poll(nullptr, 0, 5);
  }
  slurmctld_.emplace(daemon("/usr/sbin/slurmctld -D -i"));
  node1_.emplace(daemon("/usr/sbin/slurmd -D -N n1"));
  node2_.emplace(daemon("/usr/sbin/slurmd -D -N n2"));
  wait_until_idle();
}

SlurmCluster::~SlurmCluster() {
  try {
    CommandProcess cancel({.command = {"/usr/bin/scancel", "--full", "--signal=KILL", "--state",
                                       "RUNNING", "--user", "root"},
                           .environment = environment()});
    cancel.wait_exit(Deadline::after(5s));
  } catch (const std::exception&) {
    // The nodes are stopped anyway.
  }
  for (auto* process : {&node1_, &node2_, &slurmctld_, &munged_}) process->reset();
  kill_steps();
}

// Slurm's step processes outlive their daemon and try for minutes to report their exit to it.
void SlurmCluster::kill_steps() const {
  const std::string mark = "SLURM_CONF=" + environment().at("SLURM_CONF");
  for (const auto& process : cluster::launch::host::list_processes()) {
    const std::string at = "/proc/" + std::to_string(process.pid);
    std::ifstream name(at + "/comm");
    std::ifstream variables(at + "/environ", std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(variables), {}};
    std::string word;
    const bool is_step = std::getline(name, word) && word.starts_with("slurm");
    if (is_step && text.find(mark) != std::string::npos) kill(process.pid, SIGKILL);
  }
}

void SlurmCluster::wait_until_idle() {
  const Deadline deadline = Deadline::after(kSlurmStartTime);
  while (true) {
    CommandProcess info({.command = {"/usr/bin/sinfo", "-h", "-t", "idle", "-o", "%D"},
                         .environment = environment()});
    if (info.wait_exit(Deadline::after(20s)) == 0 && info.out() == "2\n") return;
    if (deadline.is_past()) throw Error(ErrorCode::Deadline, "Slurm does not start: " + logs());
    poll(nullptr, 0, 50);
  }
}

std::map<std::string, std::string> SlurmCluster::environment() const {
  return {{"SLURM_CONF", (folder_.path() / "slurm.conf").string()}};
}

std::string SlurmCluster::logs() const {
  std::string text;
  for (const char* name : {"log", "munge.log"}) {
    try {
      text += read_file(folder_.path() / name);
    } catch (const Error&) {
      continue;
    }
  }
  return text.substr(text.size() - std::min<std::size_t>(text.size(), 6000));
}

}  // namespace trireme::testing
