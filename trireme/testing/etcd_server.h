// EtcdServer is a real single-member etcd in its own process, with its data in a temporary folder.
// It can be killed, stopped, and restarted on the same data and port.
//
//   if (!EtcdServer::program()) GTEST_SKIP() << EtcdServer::kMissing;
//   EtcdServer server;
//
// It accepts large requests (32 MiB) and elects itself within a fraction of a second.
//
// Errors:        Deadline with the end of its log, if it does not answer in time.
// Lifetime:      the process is killed with the object, and with the thread that started it.
// Thread safety: one thread at a time.

#pragma once

#include <optional>
#include <string>

#include "trireme/base/deadline.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/cluster/store/etcd/place.h"
#include "trireme/testing/command_process.h"
#include "trireme/testing/held_port.h"

namespace trireme::testing {

class EtcdServer {
 public:
  static constexpr const char* kMissing =
      "NOT TESTED: there is no etcd here; type: sudo apt-get install etcd-server";

  // The path of the installed program; nothing if it is not installed.
  static std::optional<std::string> program();

  // Starts the server and waits until it answers.
  EtcdServer();

  // Sends SIGKILL; acknowledged writes are on disk.
  void kill();
  // Restarts the server after kill() and waits until it answers.
  void start();
  void signal(int number) const { process_->signal(number); }
  // Compacts the history: only the current revision stays available.
  void compact();

  std::string url() const { return "etcd://127.0.0.1:" + std::to_string(port_.number()); }
  cluster::etcd::EtcdPlace place(const std::string& job) const;

 private:
  TemporaryFolder folder_{"etcd"};
  HeldPort port_, peer_port_;
  std::optional<CommandProcess> process_;
};

}  // namespace trireme::testing
