// Outbox is the sending half of one session. It holds the answers that the kernel has not yet
// accepted and the set of requests that are still open.
//
// Sending:       a frame is sent by the thread that answers; only bytes that do not fit into the
//                kernel's buffer are kept, and the loop sends them when the socket has room.
//                Between cork() and uncork() the answers to one batch of requests are combined into
//                one send.
// Bounds:        an item that would make more than `output_max` bytes pending closes the session. A
//                reply may exceed the limit by one payload, because every request gets a reply;
//                is_congested() tells the loop to stop reading requests in the meantime.
// Thread safety: any thread; every member takes the lock and none calls back.
// Errors:        a closed or broken connection is shut down, which the loop sees as a hang-up. From
//                then on all members do nothing and return false.

#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_set>

#include "trireme/base/bytes.h"
#include "trireme/net/frame.h"
#include "trireme/net/socket.h"

namespace trireme::net {

class Outbox {
 public:
  struct Options {
    int epoll = -1;         // the epoll instance in which the socket is registered
    std::uint64_t tag = 0;  // the tag of that registration
    std::size_t output_max = 0;
    std::size_t payload_max = 0;
    std::size_t requests_max = 4096;  // maximum of open requests; further ones are refused
  };

  enum class Admission { Admitted, Repeated, Full };

  Outbox(Socket socket, const Options& options);

  // Registers a received request, which must be answered.
  Admission admit(std::uint64_t id);
  // The caller cancelled the request. Answers with End, so that a reader of the stream wakes up.
  void cancel(std::uint64_t id) { finish(id, FrameKind::End, 0, {}); }
  bool send_item(std::uint64_t id, std::uint16_t method, ByteView payload);
  // Sends Reply, End or Failure, the last frame of a request. Does nothing if the request is not
  // open.
  void finish(std::uint64_t id, FrameKind kind, std::uint16_t method, ByteView payload);

  // Sends a Failure for a request that was not admitted.
  void refuse(std::uint64_t id, std::uint16_t method, ByteView failure);

  // The following members are for the loop.
  const Socket& socket() const noexcept { return socket_; }
  void cork();
  void uncork();
  void flush();
  bool is_congested() const;
  // While paused, the loop is woken when there is room to send instead of when requests arrive.
  void pause(bool paused);
  void close();
  // Why the session was closed by this end; empty if it was not.
  std::string cut_reason() const;

 private:
  void append_locked(FrameKind kind, std::uint16_t method, std::uint64_t id, ByteView payload);
  void flush_locked();
  void cut_locked(std::string reason);
  void update_interest_locked();
  std::size_t waiting_locked() const noexcept { return buffer_.size() - begin_; }

  const Options options_;
  Socket socket_;

  mutable std::mutex mutex_;
  std::unordered_set<std::uint64_t> open_;
  Bytes buffer_;
  std::size_t begin_ = 0;
  std::uint32_t interest_;
  bool is_closed_ = false;
  bool is_corked_ = false;
  bool is_paused_ = false;
  std::string cut_reason_;
};

}  // namespace trireme::net
