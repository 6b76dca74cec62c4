// SshServer is a real sshd on loopback in its own process, with its own keys in a temporary folder.
// It neither reads nor changes the user's ssh configuration.
//
//   if (!SshServer::program()) GTEST_SKIP() << SshServer::kMissing;
//   SshServer server({.environment = {{"XDG_RUNTIME_DIR", "/tmp/x"}}});
//   trireme({"run", "--ssh", server.command(), "--hosts", "127.0.0.1:2,127.0.0.2:2", ...});
//
// Hosts:         it listens on 127.0.0.1 and 127.0.0.2, or on the given addresses.
// Errors:        Deadline with the end of its log, if it does not answer in time.
// Lifetime:      the server is killed with the object and with the thread that started it; open
//                connections end with their clients.
// Thread safety: one thread at a time.

#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "trireme/base/file/temporary_folder.h"
#include "trireme/testing/command_process.h"
#include "trireme/testing/held_port.h"

namespace trireme::testing {

class SshServer {
 public:
  static constexpr const char* kMissing =
      "NOT TESTED: there is no sshd here; type: sudo apt-get install openssh-server";

  // The path of the installed program; nothing if it is not installed.
  static std::optional<std::string> program();

  struct Options {
    std::map<std::string, std::string> environment{};  // of every session
    std::vector<std::string> addresses{"127.0.0.1", "127.0.0.2"};
    // Starts one server for each entry, all with the same keys and port. An entry is a command
    // prefix such as "nsenter -n -t 17"; an empty entry means no prefix.
    std::vector<std::string> within{""};
    // Folders that appear empty to its sessions, as on another host. Requires root.
    std::vector<std::string> hidden{};
  };

  explicit SshServer(const Options& options);
  SshServer() : SshServer(Options{}) {}

  // The ssh command line with all required options; append the host name.
  std::string command() const;
  pid_t pid() const noexcept { return processes_.front().pid(); }
  std::string log() const;

  // The processes of `all` that run on the host with this address, that is, that its ssh sessions
  // started.
  static std::vector<pid_t> of_host(const std::string& address, const std::vector<pid_t>& all);

 private:
  void make_keys();
  void wait_until_they_answer(std::size_t addresses);

  TemporaryFolder folder_{"sshd"};
  HeldPort port_;
  std::list<CommandProcess> processes_;
};

}  // namespace trireme::testing
