// Outbox is the sending half of one session: what was answered but not yet taken by the kernel,
// and which requests are still owed an answer.
//
// Sending: a frame goes to the kernel on the thread that answers; only what does not fit is kept
//          and sent by the loop when the socket has room. Between cork() and uncork() the loop
//          gathers the answers to what it just read into one send.
// Bounds:  an item that would make more than `output_max` bytes wait cuts the session; a reply may
//          go beyond it by one payload, since the caller was promised one. is_congested() tells
//          the loop to read no further requests meanwhile.
// Threads: any; every member takes the lock and none calls back.
// Failure: a cut or broken connection is shut down, which the loop sees as a hang-up; from then
//          on everything here does nothing and says false.

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
    int epoll = -1;         // where the socket is registered
    std::uint64_t tag = 0;  // and as what
    std::size_t output_max = 0;
    std::size_t payload_max = 0;
    std::size_t requests_max = 4096;  // open at once; further ones are refused
  };

  enum class Admission { Admitted, Repeated, Full };

  Outbox(Socket socket, const Options& options);

  // A request arrived and is owed an answer.
  Admission admit(std::uint64_t id);
  // The caller wants no more of it. Answers with End, so that a reader of the stream wakes up.
  void cancel(std::uint64_t id);
  bool send_item(std::uint64_t id, std::uint16_t method, ByteView payload);
  // Reply, End or Failure: the last frame of a request. Does nothing for one no longer open.
  void finish(std::uint64_t id, FrameKind kind, std::uint16_t method, ByteView payload);

  // A Failure for a request that was not admitted.
  void refuse(std::uint64_t id, std::uint16_t method, ByteView failure);

  // For the loop.
  const Socket& socket() const noexcept { return socket_; }
  void cork();
  void uncork();
  void flush();
  bool is_congested() const;
  // While paused the loop is woken when there is room to send instead of when there are requests.
  void pause(bool paused);
  void close();
  // Why it was cut; empty when it was not.
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
