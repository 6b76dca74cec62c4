// Directory is the table of an arena's common part. It records which blocks exist, their keys, how
// many users each has, and where space is free.
//
// The table is in shared memory and protected by a robust lock, which survives the death of its
// holder. Most functions do not wait for that lock: they report that it is held, and the caller,
// which knows its deadline, tries again.
//
// Blocks: the first caller creates a block, zeroed. When the last user has left, the block is
//         freed, and its entry and space can be used again.
// Epochs: an entry may belong to an epoch of an elastic job. forget() frees all entries of
//         earlier epochs, which dead users never released.
// Names:  an entry may also refer to memory elsewhere in the arena, to give it a key.
// Errors: Exhausted if there is no space or memory, Mismatch if sizes differ.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "trireme/base/file/memory_file.h"

namespace trireme::comm {

class Directory {
 public:
  // Bytes [begin, begin + size) of the file are the common part.
  struct Place {
    std::size_t table = 0;  // offset of the table
    std::size_t begin = 0;
    std::size_t size = 0;
  };
  struct Block {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    std::uint32_t note = 0;   // chosen by the caller
    std::uint64_t epoch = 0;  // epoch that owns the entry; 0: none
  };

  static std::size_t table_size() noexcept;
  // Called once, by the process that creates the file, on zeroed memory.
  static void initialize(void* table);

  // Lifetime: the file must outlive the Directory and must not be moved.
  Directory(const MemoryFile& file, Place place) : file_(file), place_(place) {}

  // Empty while another process holds the lock. With `reserves` the memory is reserved at once,
  // otherwise only its addresses are assigned.
  std::optional<Block> find_or_make(std::uint64_t key, std::size_t size, int users, bool reserves,
                                    std::uint64_t epoch = 0);
  // False while another process holds the lock. REQUIRES: the key is not in use.
  bool add(std::uint64_t key, const Block& block);
  // Empty if there is no such entry, and also while another process holds the lock.
  std::optional<Block> find(std::uint64_t key);
  // Removes one user. Returns true for the last one, whose release also removes the entry. Waits
  // briefly for the lock; if it cannot be acquired, the entry stays.
  bool release(std::uint64_t key) noexcept;
  // Removes all entries of earlier epochs. REQUIRES: their users are dead or no longer use them. If
  // the lock cannot be acquired for a while, the entries stay until the next call.
  void forget(std::uint64_t epoch) noexcept;

  // Number of entries in use, and the bytes of the common part that they occupy.
  struct Usage {
    std::size_t entries = 0;
    std::size_t bytes = 0;
  };
  std::optional<Usage> usage();

 private:
  struct Entry;
  struct Table;
  class Lock;

  Table& table() const noexcept;
  Entry* entry_of(std::uint64_t key) const noexcept;
  Entry& free_entry() const;
  std::size_t find_room(std::size_t size) const;
  bool is_common(const Entry& entry) const noexcept;
  void sweep() const noexcept;
  void clear(Entry& entry) const noexcept;
  template <class Change>
  bool change(Change&& change) noexcept;

  const MemoryFile& file_;
  Place place_;
};

}  // namespace trireme::comm
