// Intake is how an agent receives its part of a job, before anything of it runs: it sends Hello,
// receives the order, and fetches the files that this host lacks.
//
// Paths:         words of the command that name a file of the order are replaced by its path on
//                this host.
// Errors:        PeerLost when the launcher is gone or silent; Protocol; what a Cache throws. The
//                caller reports the error to the launcher with tell_trouble().
// Thread safety: one thread, before there are others.

#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "trireme/base/deadline.h"
#include "trireme/cluster/launch/hosts/protocol/frame.h"
#include "trireme/cluster/launch/hosts/protocol/order.h"

namespace trireme::cluster::launch::hosts {

class Intake {
 public:
  // Descriptors to read from and write to.
  Intake(int input, int output) : input_(input), output_(output) {}

  // The order, with paths of this host.
  StartOrder take();
  // The frames that follow.
  LaunchFrameReader& frames() noexcept { return frames_; }

  void say(LaunchFrameKind kind, ByteView payload = {}) const;
  // Reports why nothing runs here. The launcher may be gone already.
  void tell_trouble(const std::string& why) const noexcept;

 private:
  LaunchFrame next();
  void fetch(const StartOrder& order, std::map<std::string, std::filesystem::path>& places);

  int input_;
  int output_;
  LaunchFrameReader frames_;
};

}  // namespace trireme::cluster::launch::hosts
