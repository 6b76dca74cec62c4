#include "trireme/testing/etcd_server.h"

#include <signal.h>
#include <unistd.h>

#include <chrono>

#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/cluster/store/etcd/client.h"
#include "trireme/cluster/store/etcd/message.h"
#include "trireme/net/address.h"

namespace trireme::testing {
namespace {

using namespace std::chrono_literals;
namespace etcd = cluster::etcd;

constexpr auto kStartTime = 30s;

}  // namespace

std::optional<std::string> EtcdServer::program() {
  for (const char* path : {"/usr/bin/etcd", "/usr/local/bin/etcd"}) {
    if (access(path, X_OK) == 0) return path;
  }
  return std::nullopt;
}

EtcdServer::EtcdServer() {
  start();
}

void EtcdServer::kill() {
  process_->signal(SIGKILL);
  process_->wait_exit(Deadline::after(kStartTime));
  process_.reset();
}

void EtcdServer::start() {
  const std::string here = "http://127.0.0.1:" + std::to_string(port_.number());
  const std::string peers = "http://127.0.0.1:" + std::to_string(peer_port_.number());
  const std::string folder = folder_.path().string();
  // The log goes to a file, because a pipe would fill up while the test waits for something else.
  const std::string line =
      "exec setpriv --pdeathsig KILL " + program().value_or("etcd") + " --name test --data-dir " +
      folder + "/data --listen-client-urls " + here + " --advertise-client-urls " + here +
      " --listen-peer-urls " + peers + " --initial-advertise-peer-urls " + peers +
      " --initial-cluster test=" + peers +
      " --heartbeat-interval 50 --election-timeout 250 --max-request-bytes 33554432 >>" + folder +
      "/log 2>&1";
  process_.emplace(CommandProcess::Options{.command = {"/bin/sh", "-c", line}});
  etcd::EtcdClient client({.members = place("none").members});
  try {
    client.call(etcd::kRangePath, etcd::range_request({.begin = "none"}),
                Deadline::after(kStartTime));
  } catch (const Error& error) {
    const std::string log = read_file(folder_.path() / "log");
    throw error.with_cause(log.substr(log.size() - std::min<std::size_t>(log.size(), 2000)));
  }
}

void EtcdServer::compact() {
  etcd::EtcdClient client({.members = place("none").members});
  const Deadline deadline = Deadline::after(kStartTime);
  const etcd::RangeReply now = etcd::read_range(
      client.call(etcd::kRangePath, etcd::range_request({.begin = "none"}), deadline));
  client.call("/v3/kv/compaction",
              "{\"revision\":\"" + std::to_string(now.revision) + "\",\"physical\":true}",
              deadline);
}

etcd::EtcdPlace EtcdServer::place(const std::string& job) const {
  return {.members = {net::Address::tcp("127.0.0.1", port_.number())}, .job = job};
}

}  // namespace trireme::testing
