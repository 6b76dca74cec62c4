// Handover gives a new connection from the launcher to the agent of an elastic job that lives on
// this host already: the connection before was lost, or the launcher died and another came.
//
// Meaning:  the agent listens in its folder, which only its user can enter. Whoever is started by
//           the new ssh hands its standard input and output over and then only stands by: ssh's
//           session lives as long as it does, and it ends once the agent lets go of the connection.
// Failure:  Io where no socket can be had; what is no handover is dropped.
// Threads:  one.

#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "trireme/base/deadline.h"
#include "trireme/base/descriptor.h"

namespace trireme::cluster::launch::hosts {

// A connection to the launcher, as an agent has it.
struct Wire {
  Descriptor input{};
  Descriptor output{};
  std::string feed{};  // where the launcher takes events and metrics now
  std::string rest{};  // what came through it and was not read
  Descriptor giver{};  // readable once whoever stands by is gone
};

class Handover {
 public:
  // Listens in this folder.
  explicit Handover(const std::filesystem::path& folder);

  int descriptor() const noexcept { return listener_.get(); }
  // One that waits, if any does.
  std::optional<Wire> take() const;

  // Hands a wire to the agent of this folder, and stands by until that lets go. False: there is no
  // such agent, and the wire is as it was.
  static bool give(const std::filesystem::path& folder, const Wire& wire, Deadline deadline);

 private:
  Descriptor listener_;
};

}  // namespace trireme::cluster::launch::hosts
