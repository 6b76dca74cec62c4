// Handover passes a new connection from the launcher to the agent of an elastic job that already
// runs on this host: the previous connection was lost, or the launcher died and was replaced.
//
// Protocol:      the agent listens in its folder, which only its user can enter. The process that
//                the new ssh starts hands over its standard input and output and then only waits:
//                ssh's session lives as long as this process does, and it ends once the agent
//                closes the connection.
// Errors:        Io if no socket can be created; a message that is not a handover is dropped.
// Thread safety: one thread.

#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "trireme/base/deadline.h"
#include "trireme/base/file/descriptor.h"

namespace trireme::cluster::launch::hosts {

// A connection to the launcher, as an agent has it.
struct LauncherConnection {
  Descriptor input{};
  Descriptor output{};
  std::string feed{};  // where the launcher receives events and metrics now
  std::string rest{};  // bytes that were received and not processed yet
  Descriptor giver{};  // readable once the waiting process is gone
};

class Handover {
 public:
  // Listens in this folder.
  explicit Handover(const std::filesystem::path& folder);

  int descriptor() const noexcept { return listener_.get(); }
  // A connection that is waiting to be handed over, if there is one.
  std::optional<LauncherConnection> take() const;

  // Hands a wire to the agent of this folder, and waits until the agent closes it. False: there is
  // no such agent, and the wire is unchanged.
  static bool give(const std::filesystem::path& folder, const LauncherConnection& wire,
                   Deadline deadline);

 private:
  Descriptor listener_;
};

}  // namespace trireme::cluster::launch::hosts
