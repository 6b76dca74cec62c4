// A frame is what a launcher and its agent on another host say to each other through the standard
// input and output of ssh: 4 bytes size, 1 byte kind, the payload.
//
// Who says what, in this order:
//   agent     Hello     what it was built from
//   launcher  Order     the agent's part of the job, with the secret; see order.h
//   agent     Want      which of the order's files it lacks; they follow
//   launcher  Cargo     a piece of one of them, in order; an empty piece ends a file
//   agent     Ready     all is there; or Trouble: why it cannot be
//   launcher  Go        once every agent is ready
//   agent     Started, Output, Ended    of its ranks
//   launcher  Signal    for all ranks
//   both      Beat      at least every kBeatTime once the order was understood
//
// In an elastic job the agent starts nobody by itself, and the launcher may lose it and come back:
//   agent     Ended, Aboard    after Go: who ended while nobody listened, and all who live
//   launcher  Start     a worker, once the agent said Aboard
//   launcher  End       the job is over: whoever is left is killed, and the agent ends
//
// Bounds:  a frame has at most kFrameMax bytes.
// Failure: Protocol for bytes that are no frame of ours.
// Threads: a FrameReader is used by one thread.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "trireme/base/bytes.h"
#include "trireme/base/clock.h"

namespace trireme::cluster::launch::hosts {

inline constexpr std::size_t kFrameMax = std::size_t{4} << 20;
inline constexpr Duration kBeatTime = std::chrono::seconds(1);
// Whoever hears nothing for so long takes the other for dead.
inline constexpr Duration kSilenceMax = std::chrono::seconds(30);

enum class FrameKind : std::uint8_t {
  Hello = 1,
  Order,
  Want,
  Cargo,
  Ready,
  Trouble,
  Go,
  Started,
  Output,
  Ended,
  Signal,
  Beat,
  Start,
  Aboard,
  End,
};

struct Frame {
  FrameKind kind = FrameKind::Beat;
  Bytes payload{};
};

std::string encode_frame(FrameKind kind, ByteView payload = {});

class FrameReader {
 public:
  void feed(std::string_view bytes) { buffer_.append(bytes); }
  // The next whole one.
  std::optional<Frame> next();
  bool is_empty() const noexcept { return at_ == buffer_.size(); }
  // What was fed and is no whole frame yet, or was not asked for.
  std::string_view rest() const noexcept { return std::string_view(buffer_).substr(at_); }

 private:
  std::string buffer_;
  std::size_t at_ = 0;
};

}  // namespace trireme::cluster::launch::hosts
