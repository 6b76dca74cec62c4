#include "trireme/testing/wired_hosts.h"

#include <fcntl.h>
#include <sched.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <iterator>

#include "trireme/base/error.h"

namespace trireme::testing {
namespace {

constexpr int kHosts = 2;
constexpr auto kPatience = std::chrono::seconds(10);

void run(const std::string& script) {
  CommandProcess shell({.command = {"/bin/sh", "-ec", script}});
  if (shell.wait_exit(Deadline::after(kPatience)) != 0) {
    throw Error(ErrorCode::Io, "no wire between hosts: " + shell.error());
  }
}

std::string net_of(int host) {
  return "10.77." + std::to_string(host + 1);
}

}  // namespace

WiredHosts::WiredHosts() : home_(::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC)) {
  if (::unshare(CLONE_NEWNET) != 0) {
    missing_ = std::string("NOT TESTED: networks cannot be made here: ") + std::strerror(errno);
    return;
  }
  run("ip link set lo up; echo 1 >/proc/sys/net/ipv4/ip_forward");
  for (int host = 0; host < kHosts; ++host) {
    sleepers_.emplace_back(
        CommandProcess::Options{.command = {"/usr/bin/unshare", "--net", "sleep", "100000"}});
    const std::string pid = std::to_string(sleepers_.back().pid());
    const std::string wire = "w" + std::to_string(host);
    run("own=$(readlink /proc/self/ns/net); "
        "while [ \"$(readlink /proc/" +
        pid +
        "/ns/net)\" = \"$own\" ]; do :; done; "
        "ip link add " +
        wire + " type veth peer name eth0 netns " + pid +
        "; "
        "ip addr add " +
        net_of(host) + ".1/24 dev " + wire + "; ip link set " + wire +
        " up; "
        "nsenter -n -t " +
        pid +
        " sh -ec \"ip link set lo up; ip link set eth0 up; "
        "ip addr add " +
        address(host) +
        "/24 dev eth0; "
        "ip route add default via " +
        net_of(host) + ".1\"");
  }
}

WiredHosts::~WiredHosts() {
  if (missing_.empty()) ::setns(home_.get(), CLONE_NEWNET);
}

std::string WiredHosts::address(int host) {
  return net_of(host) + ".2";
}

std::vector<std::string> WiredHosts::within() const {
  std::vector<std::string> all;
  for (const CommandProcess& sleeper : sleepers_) {
    all.push_back("nsenter -n -t " + std::to_string(sleeper.pid()));
  }
  return all;
}

void WiredHosts::connect(const std::string& name) {
  const auto within_host = [this](int host) {
    return "nsenter -n -t " + std::to_string(std::next(sleepers_.begin(), host)->pid()) + " ";
  };
  const std::string other = std::to_string(sleepers_.back().pid());
  run(within_host(0) + "ip link add " + name + " type veth peer name " + name + " netns " + other);
  for (int host = 0; host < kHosts; ++host) {
    run(within_host(host) + "ip addr add " + straight_address(host) + "/24 dev " + name);
    run(within_host(host) + "ip link set " + name + " up");
  }
}

// Sets this end of the wire: processes in this namespace get an error that there is no route.
void WiredHosts::set_wire(int host, const std::string& state) {
  run("ip link set w" + std::to_string(host) + " " + state);
}

}  // namespace trireme::testing
