// LifePage is a small piece of shared memory that says whether one process lives: made by that
// process, mapped by every peer on its host that can prove it may (see MemoryFile).
//
//   | offset | what                                                        |
//   |      0 | nonce, by which a peer knows that it reads the right memory |
//   |     16 | 1 once the process has left in an orderly way               |
//   |     24 | how often its heart has beaten; 64 bits                     |
//   |     64 | one futex word a watcher, 8 bytes apart                     |
//
// A word holds its owner's thread id and FUTEX_WAITERS while the owner lives. The kernel replaces
// it by FUTEX_OWNER_DIED when the owner ends in whatever way, and wakes the one watcher that may
// sleep on it; hence a word for each. An owner that leaves writes kLeft.
//
// Threads: the words are atomic; the object is used by one thread at a time.

#pragma once

#include <cstdint>
#include <optional>

#include "trireme/base/memory_file.h"

namespace trireme::cluster {

enum class LifeSign { Living, Left, Died };

class LifePage {
 public:
  static constexpr std::size_t kSize = 16384;
  static constexpr std::size_t kStride = 8;
  static constexpr int kWatchersMax = 2040;
  // No thread has this id: the kernel gives out at most 2^22.
  static constexpr std::uint32_t kLeft = 0x3fffffff;

  // Throws Exhausted or Io.
  static LifePage make();
  // Nothing if the memory is not reachable from here, or is not what the proof says.
  static std::optional<LifePage> open(const MemoryFile::Proof& proof);

  MemoryFile::Proof proof() const { return file_.proof(); }

  // REQUIRES: 0 <= watcher < kWatchersMax.
  std::uint32_t* word(int watcher) const;
  std::uint32_t load(int watcher) const;
  void store(int watcher, std::uint32_t value) const;

  void beat() const;
  std::uint64_t beats() const;

  void mark_left() const;
  // What the word that this watcher last loaded means.
  LifeSign sign_of(std::uint32_t value) const;

 private:
  explicit LifePage(MemoryFile file) : file_(std::move(file)) {}

  MemoryFile file_;
};

}  // namespace trireme::cluster
