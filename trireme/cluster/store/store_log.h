// StoreLog lets a store's server die and be restarted: it records every change whose lifetime is
// the job, and replays the changes to the next server.
//
//   StoreLog log(path);
//   auto service = std::make_shared<StoreService>(bounds, log.journal());
//   log.replay([&](const StoreMap::Change& change) { service->learn(change); });
//   service->advance(log.first_revision());
//
// Torn writes:   a record has its length and a hash. A process that dies while it writes leaves a
//                part of a record at the end, which the next process removes; no client was told
//                about that change.
// Compaction:    when most of the file is history, the current content replaces it.
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
#include <functional>
#include <span>

#include "trireme/base/bytes.h"
#include "trireme/base/file/descriptor.h"
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
  void replay(const std::function<void(const StoreMap::Change&)>& learn) const;
  // The revision from which the next server counts.
  std::uint64_t first_revision() const;

  StoreState::Journal journal();

 private:
  // Returns the size of the complete records.
  std::size_t read(ByteView file);
  void write(std::span<const StoreMap::Change> changes);
  // Afterwards the file contains either all of the changes or, if it throws, none.
  void append(std::span<const StoreMap::Change> changes);
  void rewrite();
  void open();

  const std::filesystem::path path_;
  Descriptor file_;
  std::uint64_t size_ = 0;
  StoreMap kept_;  // what the file describes
};

}  // namespace trireme::cluster
