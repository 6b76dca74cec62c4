// Intake is how an agent comes to its part of a job, before anything of it runs: it says hello,
// takes the order, fetches the files that this host lacks, says that it is ready, and waits for
// the word to go.
//
// Paths:   words of the command that name a file of the order's become the path that it has here.
// Failure: PeerLost when the launcher is gone or silent; Protocol; what a Cache throws. The caller
//          tells the launcher: tell_trouble().
// Threads: one, before there are others.

#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "trireme/base/deadline.h"
#include "trireme/cluster/launch/hosts/frame.h"
#include "trireme/cluster/launch/hosts/order.h"

namespace trireme::cluster::launch::hosts {

class Intake {
 public:
  // Descriptors to read from and write to.
  Intake(int input, int output) : input_(input), output_(output) {}

  // The order, with paths of this host.
  Order take();
  // Returns once the launcher said so. What it said beyond that stays in frames().
  void wait_go();
  FrameReader& frames() noexcept { return frames_; }

  void say(FrameKind kind, ByteView payload = {}) const;
  // Why nothing runs here. Nobody may be there to hear it.
  void tell_trouble(const std::string& why) const noexcept;

 private:
  Frame next();
  void fetch(const Order& order, std::map<std::string, std::filesystem::path>& places);

  int input_;
  int output_;
  FrameReader frames_;
};

}  // namespace trireme::cluster::launch::hosts
