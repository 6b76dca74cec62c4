// Exposure decides when the members of a Lanes may access each other's memory in place.
//
// A member exposes the memory of an operation that others read or write, until the operation has
// finished. The others access it in strides: periods of about a millisecond. A member that gives up
// closes its exposure: no member begins a stride after that, and it waits briefly for running
// strides. Memory that a frozen or dead member may still access is quarantined.
//
// Thread safety: one thread per member. The words are in shared memory, one pair per member.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "trireme/comm/arena.h"

namespace trireme::comm::shm {

struct StrideWords {
  alignas(64) std::atomic<std::uint64_t> busy;    // inside a stride
  alignas(64) std::atomic<std::uint64_t> closed;  // has given up
};

class Exposure {
 public:
  // `words`: by member. `epoch` of an elastic job: when it ends, quarantined memory is freed.
  Exposure(std::shared_ptr<Arena> arena, std::vector<StrideWords*> words, int me,
           std::uint64_t epoch);

  // Memory of this member that others may access from now on. If this member gives up meanwhile, it
  // may have to be quarantined.
  void add(const void* data, std::size_t size) { exposed_.emplace(data, size); }
  void remove(const void* data) noexcept;

  // Runs `touch`, which accesses memory that others exposed, in a stride. Returns false, possibly
  // without running it, if one of them has given up: that memory belongs to its owner again.
  template <class Touch>
  bool stride(Touch&& touch) const {
    if (!begin_stride()) return false;
    {
      const Stride ends{*this};
      std::forward<Touch>(touch)();
    }
    return !anyone_closed();
  }

  // Forbids further access to this member's memory. Waits briefly until no member accesses it.
  void close() noexcept;
  bool is_closed() const noexcept { return is_closed_; }
  // Whether a member has given up.
  bool has_closed(int member) const noexcept;

  // stride() in two halves. begin_stride() returns false, and begins none, if a member has given
  // up.
  bool begin_stride() const noexcept;
  void end_stride() const noexcept { words(me_).busy.store(0, std::memory_order_seq_cst); }

 private:
  struct Stride {
    const Exposure& exposure;
    ~Stride() { exposure.end_stride(); }
  };

  int size() const noexcept { return static_cast<int>(words_.size()); }
  StrideWords& words(int member) const noexcept {
    return *words_[static_cast<std::size_t>(member)];
  }
  bool anyone_closed() const noexcept;
  bool is_quiet() const noexcept;

  std::shared_ptr<Arena> arena_;
  std::vector<StrideWords*> words_;
  int me_;
  std::uint64_t epoch_;
  std::multimap<const void*, std::size_t> exposed_;
  bool is_closed_ = false;
};

}  // namespace trireme::comm::shm
