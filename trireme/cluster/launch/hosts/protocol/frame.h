// A frame is a message between a launcher and its agent on another host, sent through the standard
// input and output of ssh: 4 bytes size, 1 byte kind, the payload.
//
// The frames, in this order:
//   agent     Hello     its build
//   launcher  Order     the agent's part of the job, with the secret; see order.h
//   agent     Want      which of the order's files it lacks; they follow
//   launcher  JobFile     a piece of one of them, in order; an empty piece ends a file
//   agent     Ended, Living    it is ready: ranks that ended while disconnected, all live ones;
//                       or Trouble: why that is not possible
//   launcher  Start, Kill      one rank; the first ones once every agent is ready
//   agent     Started, Output, Ended    of its ranks
//   launcher  Signal    for all ranks
//   launcher  End       the job is over: remaining ranks are killed, and the agent ends
//   both      Beat      at least every kBeatTime once the order was received
//
// In an elastic job the launcher may lose the agent and reconnect; the frames begin again.
//
// Bounds:        a frame has at most kFrameMax bytes.
// Errors:        Protocol for bytes that are not a valid frame.
// Thread safety: a LaunchFrameReader is used by one thread.

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
// After this time without a frame, either side treats the other as dead.
inline constexpr Duration kSilenceMax = std::chrono::seconds(30);

enum class LaunchFrameKind : std::uint8_t {
  Hello = 1,
  Order,
  Want,
  JobFile,
  Trouble,
  Started,
  Output,
  Ended,
  Signal,
  Beat,
  Start,
  Living,
  End,
  Kill,
};

struct LaunchFrame {
  LaunchFrameKind kind = LaunchFrameKind::Beat;
  Bytes payload{};
};

std::string encode_frame(LaunchFrameKind kind, ByteView payload = {});

class LaunchFrameReader {
 public:
  void feed(std::string_view bytes) { buffer_.append(bytes); }
  // The next complete frame.
  std::optional<LaunchFrame> next();
  bool is_empty() const noexcept { return at_ == buffer_.size(); }
  // The bytes that are not a complete frame yet, or were not requested.
  std::string_view rest() const noexcept { return std::string_view(buffer_).substr(at_); }

 private:
  std::string buffer_;
  std::size_t at_ = 0;
};

}  // namespace trireme::cluster::launch::hosts
