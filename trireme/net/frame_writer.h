// FrameWriter sends complete frames of several threads over one socket, one frame at a time.
//
// Deadline:      if the deadline passes before any byte of a frame was sent, the frame is dropped.
//                If part of it was sent, the rest is kept and sent before the next frame. The byte
//                stream thus stays valid, and only the caller whose deadline passed fails.
// Thread safety: any thread may send. No other object may send on the socket.
// Errors:        Deadline, or PeerLost with the reason in its message.

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
  // Called when the kernel's send buffer is full; returns when there may be room, at the latest at
  // the deadline.
  using Wait = std::function<void(Deadline)>;

  explicit FrameWriter(const Socket& socket) : socket_(socket) {}

  void send(const FrameHeader& header, ByteView payload, Deadline deadline, const Wait& wait);
  // Sends without waiting: bytes that the kernel does not accept are sent with the next frame.
  void send_soon(const FrameHeader& header) noexcept;

 private:
  // Sends the kept bytes and then the frame. Returns false if the deadline passes before all is
  // sent.
  bool push(const FrameHeader& header, ByteView payload, Deadline deadline, const Wait& wait);
  void keep_rest(const FrameHeader& header, ByteView payload, std::size_t sent);
  void flush_kept() noexcept;

  const Socket& socket_;
  std::mutex mutex_;
  std::condition_variable freed_;
  bool is_busy_ = false;
  Bytes kept_;  // owned by the thread that set is_busy_
  Bytes soon_;  // protected by mutex_
};

}  // namespace trireme::net
