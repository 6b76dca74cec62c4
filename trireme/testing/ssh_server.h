// SshServer is a real sshd on loopback, in a process of its own, with keys of its own in a
// temporary folder: nothing of the user's ssh is read or changed.
//
//   if (!SshServer::program()) GTEST_SKIP() << SshServer::kMissing;
//   SshServer server({.environment = {{"XDG_RUNTIME_DIR", "/tmp/x"}}});
//   trireme({"run", "--ssh", server.command(), "--hosts", "127.0.0.1:2,127.0.0.2:2", ...});
//
// Hosts:    it answers at 127.0.0.1 and 127.0.0.2, or at the addresses that are named.
// Failure:  Deadline when it does not answer in time, with the end of its log.
// Lifetime: dies with the object, and with the thread that started it; connections that clients
//           hold end with them.
// Threads:  one.

#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "trireme/base/temporary_folder.h"
#include "trireme/testing/command_process.h"

namespace trireme::testing {

class SshServer {
 public:
  static constexpr const char* kMissing =
      "NOT TESTED: there is no sshd here; type: sudo apt-get install openssh-server";

  // Where it is installed; nothing: it is not.
  static std::optional<std::string> program();

  struct Options {
    std::map<std::string, std::string> environment{};  // of every session
    std::vector<std::string> addresses{"127.0.0.1", "127.0.0.2"};
    // One for each of these, all with the same keys and port: a command before its own, such as
    // "nsenter -n -t 17"; empty: as it is.
    std::vector<std::string> within{""};
    // Folders that its sessions see empty, as if on another host. Root alone can have this.
    std::vector<std::string> hidden{};
  };

  explicit SshServer(const Options& options);
  SshServer() : SshServer(Options{}) {}

  // ssh with all that it takes to come in; the host's name follows.
  std::string command() const;
  pid_t pid() const noexcept { return processes_.front().pid(); }
  std::string log() const;

  // Those of these processes that run on the host of this address: sessions there started them.
  static std::vector<pid_t> of_host(const std::string& address, const std::vector<pid_t>& all);

 private:
  void make_keys();
  void wait_until_they_answer();

  TemporaryFolder folder_{"sshd"};
  std::uint16_t port_ = 0;
  std::list<CommandProcess> processes_;
};

}  // namespace trireme::testing
