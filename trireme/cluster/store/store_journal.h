// StoreJournal is the file that contains a FolderStore's changes in order. Every process that
// shares the folder reads it from the start and so holds the same map; a watch sees every change
// because the file contains every change.
//
// Torn writes:   a record has its length and a hash. A process that dies while appending leaves
//                half a record at the end; readers treat it as not yet written, and the next writer
//                cuts it off.
// Compaction:    when most of the file is history, a writer writes the current state to a new file
//                and renames it over the old one. Readers finish the old file, which no process
//                changes any more, and continue in the new one. A process that missed two
//                compactions has missed changes: PeerLost.
// Thread safety: not thread-safe; the caller serializes. Writers hold the folder's lock.

#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "trireme/base/file/descriptor.h"
#include "trireme/cluster/store/store_map.h"

namespace trireme::cluster {

class StoreJournal {
 public:
  enum class Access { Reading, Writing };
  // Receives each change once, in order. A change without a key only advances the revision.
  using Learn = std::function<void(const StoreMap::Change&)>;

  explicit StoreJournal(std::string path) : path_(std::move(path)) {}

  // Creates the file if it does not exist. REQUIRES: the folder's lock.
  void open();
  // Reads the changes since the last call. With Access::Writing the caller holds the folder's lock,
  // and the journal is then at the true end of the file. Throws Corrupt, Io, PeerLost.
  void read(const Learn& learn, Access access);
  // Afterwards the file contains either all of the changes or, if it throws (Io, Exhausted), none.
  // REQUIRES: a read() with Access::Writing while the same lock is held.
  void append(std::span<const StoreMap::Change> changes);
  // Rewrites the file when it is mostly history. REQUIRES: as append().
  void compact_if_worthwhile(const StoreMap& map);

  std::uint64_t size() const noexcept { return offset_; }

 private:
  void make(const StoreMap* map) const;
  void reopen();
  bool was_replaced() const;
  void read_to_end(const Learn& learn);
  // Consumes the records at the front of `bytes`; returns how many bytes the next one needs.
  std::size_t take_records(ByteView bytes, const Learn& learn);

  const std::string path_;
  Descriptor file_;
  std::uint64_t offset_ = 0;    // everything before it has been read
  std::uint64_t revision_ = 0;  // of the last change that was read
  std::uint64_t base_ = 0;      // the revision at which the file was created
};

}  // namespace trireme::cluster
