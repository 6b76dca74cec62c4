// Bound is work that the machine cannot do faster however ranks agree: the same loads and stores,
// a copy, or a raw exchange over sockets. It is measured in the same run as the operation that it
// bounds, in turns with it.
//
// Meaning: all ranks run at once, without waiting for each other (a socket exchange waits for its
//          partner's bytes, as it must).
// Threads: one a rank.
// Failure: sockets throw PeerLost or Deadline.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/comm/exercise.h"
#include "trireme/comm/group.h"

namespace trireme::bench {

class Bound {
 public:
  virtual ~Bound() = default;
  // Of two bounds of one name the faster counts.
  virtual std::string name() const = 0;
  // Whether this rank takes part; the times of those that do not count for nothing.
  virtual bool takes_part() const = 0;
  // What one call of the operation comes to, once.
  virtual void run() = 0;
};

// Every rank's slice of every rank's span read, and the sum written where the operation would: by
// the kernel of the library. A collective to make, as ranks tell each other where their spans are.
std::unique_ptr<Bound> make_combine_bound(const comm::Group& group, const Exercise& exercise);
// The same by a plain loop, so that the kernel is not its own judge. For float32 on two ranks, the
// case with a bar; null for others.
std::unique_ptr<Bound> make_plain_bound(const comm::Group& group, const Exercise& exercise);

// memcpy of what this rank receives, by all ranks at once.
std::unique_ptr<Bound> make_copy_bound(const Exercise& exercise);

// A two-way exchange of what the busiest rank receives, over one TCP connection between ranks 2k
// and 2k + 1, from one whole buffer into another. A collective to make. `host` is where this rank
// can be reached.
std::unique_ptr<Bound> make_socket_bound(const comm::Group& group, const Exercise& exercise,
                                         const std::string& host);

// Those that fit this group and operation, the one to compare with first.
struct BoundOptions {
  std::string host = "127.0.0.1";
};
std::vector<std::unique_ptr<Bound>> make_bounds(const comm::Group& group, const Exercise& exercise,
                                                const BoundOptions& options);

}  // namespace trireme::bench
