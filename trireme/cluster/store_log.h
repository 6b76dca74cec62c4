// StoreLog lets a store's server die and come back: it writes down every change that lives as
// long as the job, and tells them to the server that comes after.
//
//   StoreLog log(path);
//   auto service = std::make_shared<StoreService>(bounds, log.journal());
//   log.replay([&](const StoreMap::Change& change) { service->learn(change); });
//   service->advance(log.first_revision());
//
// Sessions: keys that live with a session are not in it; their owners set them again.
// Order:    a server that comes back counts its revisions from far above those before, so that
//           they rise although changes of sessions were not written down.
// Durable:  against the death of the process, not of the host: what the kernel has is enough.
// Failure:  Corrupt, Io. A change that cannot be written is refused, as the journal's contract is.
// Threads:  one at a time. Lifetime: it outlives the service. One process at a time has it open.

#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "trireme/cluster/store_journal.h"
#include "trireme/cluster/store_map.h"
#include "trireme/cluster/store_state.h"

namespace trireme::cluster {

class StoreLog {
 public:
  // Makes the file if there is none.
  explicit StoreLog(const std::filesystem::path& path);
  StoreLog(const StoreLog&) = delete;
  StoreLog& operator=(const StoreLog&) = delete;

  // Tells all that was written down.
  void replay(const StoreJournal::Learn& learn) const;
  // From where the next server counts.
  std::uint64_t first_revision() const;

  StoreState::Journal journal();

 private:
  void write(std::span<const StoreMap::Change> changes);

  StoreJournal file_;
  StoreMap kept_;  // what the file amounts to, for when it is written anew
};

}  // namespace trireme::cluster
