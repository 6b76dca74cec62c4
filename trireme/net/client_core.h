// ClientCore is the connection that the handles of one Client share: it writes requests, and
// sorts what arrives to those who wait for it.
//
// Reading: there is no thread. Of the callers that wait, one at a time reads the socket for all
//          (the leader); it hands the task on as soon as it has what it waits for. A request thus
//          costs no switch between threads beyond those of the two processes.
// Writing: a caller that cannot write, because the server does not read, reads meanwhile, so that
//          two ends never wait for each other.
// Threads: any.
// Failure: the first is final: `lost_` is set, everybody waiting is woken, every later call
//          repeats it.

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
  // A next() that waits elsewhere ends.
  void cancel(std::uint64_t id) noexcept;
  // Also forgets the stream.
  void close(std::uint64_t id) noexcept;

  const Identity& peer() const noexcept { return peer_; }
  bool is_open() const noexcept;
  std::string local_host() const;

 private:
  // One request that is owed something.
  struct Pending {
    std::uint16_t method = 0;
    bool is_stream = false;
    bool is_over = false;
    bool is_full = false;
    std::deque<Bytes> items;  // of a stream, or the one reply of a call
    std::optional<Error> failure;
    std::condition_variable changed;  // for the one thread that waits for this request

    bool has_news() const { return is_over || !items.empty(); }
  };
  using Lock = std::unique_lock<std::mutex>;

  std::uint64_t send_request(std::uint16_t method, ByteView payload, bool is_stream,
                             Deadline deadline);
  void send(FrameKind kind, std::uint16_t method, std::uint64_t id, ByteView payload,
            Deadline deadline);
  // For a writer that finds no room.
  void wait_for_room(Deadline deadline);

  // Comes back when the request has news; throws Deadline or what the connection was lost to.
  void await(Lock& lock, Pending& pending, Deadline deadline);
  // Reads for everybody until something arrived or one of the poll(2) `events`; false when time
  // was up before.
  bool read_as_leader(Lock& lock, short events, Deadline deadline);
  bool dispatch();
  void deliver(Frame frame);
  bool can_lead() const { return !is_reading_ && full_streams_ == 0; }
  void wake_next_leader();
  void set_full(Pending& pending, bool is_full);
  // Tells the server to stop, unless it has.
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
  std::vector<Pending*> waiting_;  // those whose thread sleeps in await()
  std::uint64_t next_id_ = 1;
  std::optional<Error> lost_;
  bool is_reading_ = false;  // whoever set it owns reader_ and the socket's receiving side
  FrameReader reader_;
  std::size_t full_streams_ = 0;
};

}  // namespace trireme::net
