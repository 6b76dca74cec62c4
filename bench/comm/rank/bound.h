// Bound is work that is a lower limit for an operation's time on this machine, independent of the
// algorithm: the same loads and stores, a copy, or a raw exchange over sockets. It is measured in
// the same run as the operation that it bounds, in turns with it.
//
// Ranks:         all ranks run at the same time and do not wait for each other, except that a
//                socket exchange waits for its partner's bytes.
// Errors:        sockets throw PeerLost or Deadline.
// Thread safety: one thread per rank.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/comm/rank/exercise.h"
#include "trireme/comm/group.h"

namespace trireme::bench {

class Bound {
 public:
  virtual ~Bound() = default;
  // If two bounds have the same name, the faster one counts.
  virtual std::string name() const = 0;
  // Whether this rank takes part; the times of other ranks are ignored.
  virtual bool takes_part() const = 0;
  // Does the work of one call of the operation once.
  virtual void run() = 0;
};

// Reads this rank's part of every rank's span and writes the sum to the operation's destination,
// with the library's own kernel. Construction is a collective, because ranks exchange the positions
// of their spans.
std::unique_ptr<Bound> make_combine_bound(const comm::Group& group, const Exercise& exercise);
// The same with a plain loop, so that the kernel is not measured only against itself. For float32
// on two ranks, the case that has a bar; null for others.
std::unique_ptr<Bound> make_plain_bound(const comm::Group& group, const Exercise& exercise);

// memcpy of the bytes that this rank receives, on all ranks at the same time.
std::unique_ptr<Bound> make_copy_bound(const Exercise& exercise);

// A bidirectional exchange of the bytes that the busiest rank receives, over one TCP connection
// between ranks 2k and 2k + 1, from one buffer into another. Construction is a collective. `host`
// is the address at which this rank can be reached.
std::unique_ptr<Bound> make_socket_bound(const comm::Group& group, const Exercise& exercise,
                                         const std::string& host);

// The bounds for this group and operation; the first is the one to compare with.
struct BoundOptions {
  std::string host = "127.0.0.1";
};
std::vector<std::unique_ptr<Bound>> make_bounds(const comm::Group& group, const Exercise& exercise,
                                                const BoundOptions& options);

}  // namespace trireme::bench
