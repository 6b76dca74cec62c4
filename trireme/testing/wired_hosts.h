// WiredHosts simulates two hosts as network namespaces. Each has a virtual link (wire) to this
// process's namespace, which routes packets between them. A wire can be cut and restored, and
// connect() adds a direct link between the two hosts.
//
//   WiredHosts hosts;
//   if (!hosts.missing().empty()) GTEST_SKIP() << hosts.missing();
//   SshServer server({.addresses = {"0.0.0.0"}, .within = hosts.within()});
//   hosts.cut(1);
//
// Lifetime:      the thread that creates it is in a separate network namespace until it is
//                destroyed, and so are the processes that it starts meanwhile. The kernel removes
//                the namespaces with their last process.
// Errors:        Io if a wire cannot be created, cut or restored.
// Thread safety: one thread at a time.

#pragma once

#include <list>
#include <string>
#include <vector>

#include "trireme/base/file/descriptor.h"
#include "trireme/testing/command_process.h"

namespace trireme::testing {

class WiredHosts {
 public:
  WiredHosts();
  ~WiredHosts();
  WiredHosts(const WiredHosts&) = delete;
  WiredHosts& operator=(const WiredHosts&) = delete;

  // Why the hosts are not available; empty if they are.
  const std::string& missing() const noexcept { return missing_; }

  static std::string address(int host);
  // For each host, the command prefix that runs a command on it.
  std::vector<std::string> within() const;

  // Creates the direct link; both ends get this interface name.
  void connect(const std::string& name);
  static std::string straight_address(int host) { return "10.78.0." + std::to_string(host + 1); }

  // No packet passes; the host itself is not notified.
  void cut(int host) { set_wire(host, "down"); }
  void mend(int host) { set_wire(host, "up"); }

 private:
  void set_wire(int host, const std::string& state);

  Descriptor home_;
  std::string missing_;
  std::list<CommandProcess> sleepers_;  // one process per namespace, which keeps it alive
};

}  // namespace trireme::testing
