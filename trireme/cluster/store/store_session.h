// StoreSession is the client's half of exactly-once delivery: it numbers requests, tracks which are
// not answered yet, says which are due to be sent again, and accepts each answer once.
//
// RemoteStore drives it over a connection that loses nothing and never resends; the simulation
// drives the same code over a network that loses, duplicates and reorders messages.
//
// Pure:   no clock, no sockets, no threads; the caller passes the time.
// Bounds: at most `slots_max` requests in flight; begin() refuses more.

#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "trireme/base/clock.h"
#include "trireme/cluster/store/store_message.h"

namespace trireme::cluster {

class StoreSession {
 public:
  struct Options {
    std::size_t slots_max = 256;
    // How long a request may be unanswered before it is sent again; max() means never, and then
    // requests are not kept.
    Duration retry = Duration::max();
  };

  StoreSession() : StoreSession(Options{}) {}
  explicit StoreSession(const Options& options) : options_(options) {}

  // Assigns a slot and a number to the request; the caller sends it. False if every slot is in use.
  bool begin(StoreRequest& request, TimePoint now);
  // The caller no longer wants the answer. It may still arrive; accept() then refuses it.
  void abandon(std::uint16_t slot);
  // True for the first answer to an outstanding request; false for copies and for answers to
  // abandoned requests.
  bool accept(const StoreReply& reply);

  // Requests to send again now.
  std::vector<StoreRequest> due(TimePoint now);
  std::size_t outstanding() const noexcept { return outstanding_; }

 private:
  struct Slot {
    std::uint64_t sequence = 0;
    bool is_busy = false;
    TimePoint due = TimePoint::max();
    StoreRequest request;  // kept only when it may be sent again
  };

  TimePoint retry_after(TimePoint now) const;

  Options options_;
  std::vector<Slot> slots_;
  std::set<std::uint16_t> free_;  // the lowest is used first, so that the server keeps few slots
  std::size_t outstanding_ = 0;
};

}  // namespace trireme::cluster
