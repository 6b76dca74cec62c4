// Directory is the table of an arena's common part: which blocks there are, under which keys, who
// still uses them, and where there is room for another.
//
// The table lies in shared memory, behind a lock that survives the death of its holder. Nothing
// here waits for that lock: what cannot be had at once is asked for again by the caller, who knows
// for how long.
//
// Blocks:  made zeroed by whoever comes first; given back, and the entry and the room with them
//          used again, when the last of its users has left.
// Names:   an entry may also point at memory elsewhere in the arena, which then only gets a key.
// Failure: Exhausted when there is no room or memory, Mismatch when sizes differ.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "trireme/base/memory_file.h"

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
    std::uint32_t note = 0;  // the caller's own
  };

  static std::size_t table_size() noexcept;
  // Once, by the process that makes the file, in zeroed memory.
  static void initialize(void* table);

  // The file must outlive it, and stay where it is.
  Directory(const MemoryFile& file, Place place) : file_(file), place_(place) {}

  // Nothing while another one is at the table. With `reserves` the memory is taken at once,
  // otherwise only its addresses.
  std::optional<Block> find_or_make(std::uint64_t key, std::size_t size, int users, bool reserves);
  // False while another one is at the table. REQUIRES: the key is free.
  bool add(std::uint64_t key, const Block& block);
  // Nothing also while another one is at the table.
  std::optional<Block> find(std::uint64_t key);
  // One user less: true for the last, with whom the entry goes. Waits for the table, but not for
  // long: if its lock cannot be had, the entry stays.
  bool release(std::uint64_t key) noexcept;
  // The entry goes, whoever has not released it: for users that are known to be dead.
  bool drop(std::uint64_t key) noexcept;

  // Entries in use and bytes of the common part that they have.
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
  bool leave(std::uint64_t key, bool is_last) noexcept;

  const MemoryFile& file_;
  Place place_;
};

}  // namespace trireme::comm
