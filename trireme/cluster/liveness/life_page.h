// LifePage is a small piece of shared memory that shows whether one process is alive. That process
// creates it; every peer on its host that can prove its right to (see MemoryFile) maps it.
//
//   | offset | contents                                                      |
//   |      0 | nonce, by which a peer knows that it reads the right memory   |
//   |     16 | 1 once the process has left in an orderly way                 |
//   |     24 | number of heartbeats; 64 bits                                 |
//   |     32 | its Liveness::Report, as of the last heartbeat                |
//   |     56 | number of processes that began to write a reason; 32 bits     |
//   |     60 | which of them finished first, from 1; 32 bits                 |
//   |     64 | one futex word per watcher, 8 bytes apart                     |
//   |  16384 | the first four reasons for its end, as zero-terminated text   |
//
// A word holds its owner's thread id and FUTEX_WAITERS while the owner lives. When the owner ends
// in any way, the kernel replaces the value with FUTEX_OWNER_DIED and wakes a single watcher that
// sleeps on the word; therefore each watcher has its own word. An owner that leaves writes kLeft.
//
// Thread safety: the words are atomic; the object is used by one thread at a time.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "trireme/base/file/memory_file.h"
#include "trireme/base/liveness.h"

namespace trireme::cluster {

enum class LifeSign { Living, Left, Died };

class LifePage {
 public:
  static constexpr std::size_t kReasonMax = 1024;
  static constexpr std::uint32_t kReasons = 4;
  static constexpr std::size_t kSize = 16384 + kReasons * kReasonMax;
  static constexpr std::size_t kStride = 8;
  static constexpr int kWatchersMax = 2040;
  // No thread has this id: the kernel assigns ids up to 2^22.
  static constexpr std::uint32_t kLeft = 0x3fffffff;

  // Throws Exhausted or Io.
  static LifePage make();
  // Returns nothing if the memory is not reachable from here, or does not match the proof.
  static std::optional<LifePage> open(const MemoryFile::Proof& proof);

  MemoryFile::Proof proof() const { return file_.proof(); }

  // REQUIRES: 0 <= watcher < kWatchersMax.
  std::uint32_t* word(int watcher) const;
  std::uint32_t load(int watcher) const;
  void store(int watcher, std::uint32_t value) const;

  void beat(const Liveness::Report& report = {}) const;
  std::uint64_t beats() const;
  // As of some heartbeat; the fields may come from two successive heartbeats.
  Liveness::Report report() const;

  // Why this process is killed or leaves, so that all of its peers report the same reason; the
  // first one counts. Longer texts are truncated. Once say_reason() has returned, every peer can
  // read reason(), so the caller may kill the process, whatever happened to other peers that
  // started to write theirs.
  void say_reason(std::string_view why) const;
  std::string reason() const;

  void mark_left() const;
  // The meaning of a word's value as this watcher last loaded it.
  LifeSign sign_of(std::uint32_t value) const;

 private:
  explicit LifePage(MemoryFile file) : file_(std::move(file)) {}

  MemoryFile file_;
};

}  // namespace trireme::cluster
