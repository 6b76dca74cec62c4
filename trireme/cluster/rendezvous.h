// rendezvous(): the ranks of a job meet through a store and learn who the others are.
//
// Cost:    five small requests a rank; the last to come makes one table, which all receive.
// Failure: Mismatch when builds, job hashes or sizes differ or a rank came twice, naming both
//          ranks and both values; Deadline naming the ranks that never came. All ranks of an
//          epoch end alike: with the same roster, or all with an error. Finding out who is missing
//          takes up to a second beyond the deadline if the store is slow.
// Threads: any thread; one call a rank and epoch.

#pragma once

#include <cstdint>
#include <optional>

#include "trireme/base/deadline.h"
#include "trireme/cluster/roster.h"
#include "trireme/cluster/store.h"

namespace trireme::cluster {

// `begin` is when the caller's time began to run, which messages count from; by default now.
// REQUIRES: 0 <= self.rank < self.size, and an epoch that no earlier meeting of this store used.
Roster rendezvous(Store& store, std::uint64_t epoch, const Member& self, Deadline deadline,
                  std::optional<TimePoint> begin = std::nullopt);

}  // namespace trireme::cluster
