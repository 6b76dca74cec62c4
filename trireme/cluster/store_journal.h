// StoreJournal is the file in which a FolderStore's changes lie, one after the other. Every
// process that shares the folder reads it from the start and so holds the same map; a watch sees
// every change because the file has every change.
//
// Torn writes: a record carries its length and a hash. A process that dies while appending leaves
//              half a record at the end; readers take it for "not there yet" and the next writer
//              cuts it off.
// Compaction:  when most of the file is history, a writer puts the present state into a new file
//              and renames it over the old one. Readers finish the old file, which nobody
//              changes any more, and go on in the new one. A process that slept through two
//              compactions has missed history: PeerLost.
// Threads:     none of its own; the caller serialises. Writers hold the folder's lock.

#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "trireme/base/descriptor.h"
#include "trireme/cluster/store_map.h"

namespace trireme::cluster {

class StoreJournal {
 public:
  enum class Access { Reading, Writing };
  // Is given each change once, in order. A change without a key only advances the revision.
  using Learn = std::function<void(const StoreMap::Change&)>;

  explicit StoreJournal(std::string path) : path_(std::move(path)) {}

  // REQUIRES: the folder's lock. Makes the file if there is none.
  void open();
  // What is new since the last call. With Access::Writing the caller holds the folder's lock and
  // afterwards stands at the true end. Throws Corrupt, Io, PeerLost.
  void read(const Learn& learn, Access access);
  // REQUIRES: a read() with Access::Writing under the same hold of the lock.
  // Either all of it is in the file afterwards, or (Io, Exhausted) none.
  void append(std::span<const StoreMap::Change> changes);
  // Rewrites the file when it is mostly history. REQUIRES: as append().
  void compact_if_worthwhile(const StoreMap& map);

  std::uint64_t size() const noexcept { return offset_; }

 private:
  void make(const StoreMap* map) const;
  void reopen();
  bool was_replaced() const;
  void read_to_end(const Learn& learn);
  // Takes the records at the front of `bytes`; says how many bytes the next one needs.
  std::size_t take_records(ByteView bytes, const Learn& learn);

  const std::string path_;
  Descriptor file_;
  std::uint64_t offset_ = 0;    // everything before it was read
  std::uint64_t revision_ = 0;  // of the last change that was read
  std::uint64_t base_ = 0;      // the revision at which the file was made
};

}  // namespace trireme::cluster
