// ClientCore is the connection that the handles of one Client share. It writes requests and
// delivers incoming frames to the callers that wait for them.
//
// Reading:       there is no reader thread. One of the waiting callers (the leader) reads the
//                socket for all of them and hands over the role as soon as it has its own answer. A
//                request therefore needs no context switch besides those between the two processes.
// Writing:       a caller that cannot write because the server does not read, reads in the
//                meantime, so that the two ends cannot deadlock.
// Thread safety: any thread may call any member.
// Errors:        the first error is final: `lost_` is set, all waiting callers are woken, and every
//                later call throws it again.

#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "trireme/base/bytes.h"
#include "trireme/base/deadline.h"
#include "trireme/base/error.h"
#include "trireme/net/client.h"
#include "trireme/net/dial.h"
#include "trireme/net/frame.h"
#include "trireme/net/frame_writer.h"

namespace trireme::net {

class ClientCore {
 public:
  ClientCore(const Client::Options& options, Dialed dialed);

  Bytes call(std::uint16_t method, ByteView payload, Deadline deadline);
  std::uint64_t open(std::uint16_t method, ByteView payload, Deadline deadline);
  void post(std::uint16_t method, ByteView payload, Deadline deadline);

  std::optional<Bytes> next(std::uint64_t id, Deadline deadline);
  // A next() that waits in another thread returns.
  void cancel(std::uint64_t id) noexcept;
  // Also removes the stream.
  void close(std::uint64_t id) noexcept;

  const Identity& peer() const noexcept { return peer_; }
  bool is_open() const noexcept;
  std::string local_host() const;

 private:
  // One request that has not received its final answer.
  struct Pending {
    std::uint16_t method = 0;
    bool is_stream = false;
    bool is_over = false;
    bool is_full = false;
    std::deque<Bytes> items;  // items of a stream, or the one reply of a call
    std::optional<Error> failure;
    std::condition_variable changed;  // for the one thread that waits for this request

    bool has_news() const { return is_over || !items.empty(); }
  };
  using Lock = std::unique_lock<std::mutex>;

  std::uint64_t send_request(std::uint16_t method, ByteView payload, bool is_stream,
                             Deadline deadline);
  void send(FrameKind kind, std::uint16_t method, std::uint64_t id, ByteView payload,
            Deadline deadline);
  // Called by a writer when the socket has no room.
  void wait_for_room(Deadline deadline);

  // Returns when the request has an item or is over; throws Deadline or the error of the lost
  // connection.
  void await(Lock& lock, Pending& pending, Deadline deadline);
  // Reads for all callers until data or one of the poll(2) `events` arrives. Returns false if the
  // deadline passed first.
  bool read_as_leader(Lock& lock, short events, Deadline deadline);
  bool dispatch();
  void deliver(Frame frame);
  bool can_lead() const { return !is_reading_ && full_streams_ == 0; }
  void wake_next_leader();
  void set_full(Pending& pending, bool is_full);
  // Tells the server to stop, unless the request is already over.
  void forsake(std::uint64_t id, Pending& pending) noexcept;
  void forget(std::uint64_t id, Pending& pending) noexcept;

  void lose(const Error& why);
  void throw_if_lost() const;
  std::string server_text() const;

  const Socket socket_;
  const Identity peer_;
  const Address address_;
  const std::size_t stream_items_max_;
  FrameWriter writer_;

  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, Pending> pending_;
  std::vector<Pending*> waiting_;  // requests whose thread waits in await()
  std::uint64_t next_id_ = 1;
  std::optional<Error> lost_;
  // The thread that set it owns reader_ and the receiving side of the socket.
  bool is_reading_ = false;
  FrameReader reader_;
  std::size_t full_streams_ = 0;
};

}  // namespace trireme::net
