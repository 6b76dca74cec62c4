// FrameWriter sends whole frames of several threads over one socket, one after the other.
//
// Deadline: a frame of which nothing was sent is dropped; the rest of one that was begun is kept
//           and goes before the next, so that the stream of bytes stays whole and only the caller
//           whose time is up fails.
// Threads:  any. The socket's sending side is used by nobody else.
// Failure:  Deadline, or PeerLost with the reason in its message.

#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>

#include "trireme/base/bytes.h"
#include "trireme/base/deadline.h"
#include "trireme/net/frame.h"
#include "trireme/net/socket.h"

namespace trireme::net {

class FrameWriter {
 public:
  // Called while the kernel takes no more; comes back when it may or at the deadline at the latest.
  using Wait = std::function<void(Deadline)>;

  explicit FrameWriter(const Socket& socket) : socket_(socket) {}

  void send(const FrameHeader& header, ByteView payload, Deadline deadline, const Wait& wait);
  // At once and without waiting: what the kernel does not take goes with the next frame.
  void send_soon(const FrameHeader& header) noexcept;

 private:
  // Sends what is kept and then the frame. False when the time is up before all of it is gone.
  bool push(const FrameHeader& header, ByteView payload, Deadline deadline, const Wait& wait);
  void keep_rest(const FrameHeader& header, ByteView payload, std::size_t sent);
  void flush_kept() noexcept;

  const Socket& socket_;
  std::mutex mutex_;
  std::condition_variable freed_;
  bool is_busy_ = false;
  Bytes kept_;  // owned by whoever set is_busy_
  Bytes soon_;  // under mutex_
};

}  // namespace trireme::net
