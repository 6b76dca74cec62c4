// Bound is work that is a lower limit for an operation's time on this machine, independent of the
// algorithm: the same loads and stores, a copy, or a raw exchange over sockets. It is measured in
// the same run as the operation that it bounds, in turns with it.
//
// Ranks:         all ranks run at the same time and do not wait for each other, except that a
//                socket exchange waits for its partner's bytes.
// Errors:        sockets throw PeerLost or Deadline.
// Thread safety: one thread per rank.
// Lifetime:      must not outlive the exercise.

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/comm/rank/exercise.h"
#include "trireme/comm/group.h"

namespace trireme::bench {

struct Bound {
  // If two bounds have the same name, the faster one counts.
  std::string name;
  // Does the work of one call of the operation once. Empty: this rank takes no part, and only the
  // times of the others count.
  std::function<void()> run;
};

// A bidirectional exchange of the bytes that the busiest rank receives, over one TCP connection
// between ranks 2k and 2k + 1, from one buffer into another. A collective. `host` is the address at
// which this rank can be reached.
Bound make_socket_bound(const comm::Group& group, const Exercise& exercise,
                        const std::string& host);

// The bounds for this group and operation; the first is the one to compare with. A collective.
//
//   unsynchronized loads and stores  for reductions in shared memory: reads this rank's part of
//                                    every rank's span and writes the sum to the operation's
//                                    destination, with the library's own kernel. For float32 on two
//                                    ranks, the case that has a bar, also with a plain loop, so
//                                    that the kernel is not measured only against itself.
//   raw socket exchange              without shared memory: see make_socket_bound()
//   memcpy                           of the bytes that this rank receives
std::vector<Bound> make_bounds(const comm::Group& group, const Exercise& exercise,
                               const std::string& host = "127.0.0.1");

}  // namespace trireme::bench
