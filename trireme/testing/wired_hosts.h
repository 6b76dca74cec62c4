// WiredHosts is two hosts that are not: network namespaces, each with a wire to this process, which
// passes packets between them. A wire can be cut, and mended, and there can be another one,
// straight from one to the other.
//
//   WiredHosts hosts;
//   if (!hosts.missing().empty()) GTEST_SKIP() << hosts.missing();
//   SshServer server({.addresses = {"0.0.0.0"}, .within = hosts.within()});
//   hosts.cut(1);
//
// Lifetime: the thread that makes one lives in a namespace of its own until it is destroyed, and so
//           does what it starts meanwhile. The kernel takes all of it away with the last process.
// Failure:  Io where a wire cannot be made, cut or mended.
// Threads:  one.

#pragma once

#include <list>
#include <string>
#include <vector>

#include "trireme/base/descriptor.h"
#include "trireme/testing/command_process.h"

namespace trireme::testing {

class WiredHosts {
 public:
  WiredHosts();
  ~WiredHosts();
  WiredHosts(const WiredHosts&) = delete;
  WiredHosts& operator=(const WiredHosts&) = delete;

  // Why there are none; empty: they are there.
  const std::string& missing() const noexcept { return missing_; }

  static std::string address(int host);
  // What a command takes before it to run on each.
  std::vector<std::string> within() const;

  // Makes the straight one; its ends are called this.
  void connect(const std::string& name);
  static std::string straight_address(int host) { return "10.78.0." + std::to_string(host + 1); }

  // No packet passes; the host itself is told nothing.
  void cut(int host) { set_wire(host, "down"); }
  void mend(int host) { set_wire(host, "up"); }

 private:
  void set_wire(int host, const std::string& state);

  Descriptor home_;
  std::string missing_;
  std::list<CommandProcess> sleepers_;  // one in each, which keeps it
};

}  // namespace trireme::testing
