// EtcdServer is a real etcd of one member, in a process of its own, with its data in a temporary
// folder; it can be killed, frozen and started again on the same data and port.
//
//   if (!EtcdServer::program()) GTEST_SKIP() << EtcdServer::kMissing;
//   EtcdServer server;
//
// Takes large requests (32 MiB), and elects itself within a fraction of a second.
//
// Failure: Deadline when it does not answer in time, with the end of its log.
// Lifetime: dies with the object, and with the thread that started it.
// Threads: one.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "trireme/base/deadline.h"
#include "trireme/base/temporary_folder.h"
#include "trireme/cluster/etcd/place.h"
#include "trireme/testing/command_process.h"

namespace trireme::testing {

class EtcdServer {
 public:
  static constexpr const char* kMissing =
      "NOT TESTED: there is no etcd here; type: sudo apt-get install etcd-server";

  // Where it is installed; nothing: it is not.
  static std::optional<std::string> program();

  // Starts it and waits until it answers.
  EtcdServer();

  // SIGKILL; what it had promised is on disk.
  void kill();
  // After kill(). Waits until it answers.
  void start();
  void signal(int number) const { process_->signal(number); }
  // Forgets all history but the present.
  void compact();

  std::string url() const { return "etcd://127.0.0.1:" + std::to_string(port_); }
  cluster::etcd::Place place(const std::string& job) const;

 private:
  TemporaryFolder folder_{"etcd"};
  std::uint16_t port_ = 0;
  std::uint16_t peer_port_ = 0;
  std::optional<CommandProcess> process_;
};

}  // namespace trireme::testing
