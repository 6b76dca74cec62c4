// StoreLog lets a store's server die and be restarted: it records every change whose lifetime is
// the job, and replays the changes to the next server.
//
//   StoreLog log(path);
//   auto service = std::make_shared<StoreService>(bounds, log.journal());
//   log.replay([&](const StoreMap::Change& change) { service->learn(change); });
//   service->advance(log.first_revision());
//
// Sessions:      session-bound keys are not recorded; their owners set them again.
// Order:         a restarted server starts its revisions far above the recorded ones, so that
//                revisions increase although session-bound changes were not recorded.
// Durable:       survives the death of the process, not of the host; nothing is synced to disk.
// Errors:        Corrupt, Io. A change that cannot be written is refused, as the journal's contract
//                requires.
// Thread safety: one thread at a time.
// Lifetime:      it outlives the service. Only one process at a time has the file open.

#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "trireme/cluster/store/store_journal.h"
#include "trireme/cluster/store/store_map.h"
#include "trireme/cluster/store/store_state.h"

namespace trireme::cluster {

class StoreLog {
 public:
  // Creates the file if it does not exist.
  explicit StoreLog(const std::filesystem::path& path);
  StoreLog(const StoreLog&) = delete;
  StoreLog& operator=(const StoreLog&) = delete;

  // Passes every recorded change to `learn`.
  void replay(const StoreJournal::Learn& learn) const;
  // The revision from which the next server counts.
  std::uint64_t first_revision() const;

  StoreState::Journal journal();

 private:
  void write(std::span<const StoreMap::Change> changes);

  StoreJournal file_;
  StoreMap kept_;  // the state that the file describes, for compaction
};

}  // namespace trireme::cluster
