// rendezvous(): the ranks of a job meet through a store and exchange their records.
//
// Cost:          five small requests per rank; the last rank to arrive builds one table, which all
//                ranks receive.
// Errors:        Mismatch when builds, job hashes or sizes differ or two processes have the same
//                rank, with both ranks and both values; Deadline with the ranks that did not
//                arrive. All ranks of an epoch end alike: with the same roster, or all with an
//                error. With a slow store, finding out which ranks are missing takes up to a second
//                beyond the deadline.
// Thread safety: any thread; one call per rank and epoch.

#pragma once

#include <cstdint>
#include <optional>

#include "trireme/base/deadline.h"
#include "trireme/cluster/roster.h"
#include "trireme/cluster/store/store.h"

namespace trireme::cluster {

// `begin` is when the caller started to wait, from which messages count the time; the default is
// now. REQUIRES: 0 <= self.rank < self.size, and an epoch that no earlier meeting of this store
// used.
Roster rendezvous(Store& store, std::uint64_t epoch, const Member& self, Deadline deadline,
                  std::optional<TimePoint> begin = std::nullopt);

}  // namespace trireme::cluster
