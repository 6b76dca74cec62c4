// Who reads which part of whose input, and where it goes: the collectives as pure arithmetic.
//
// Every collective but all_reduce, reduce and barrier is described by three questions, which any
// transport answers with reads (shared memory) or messages (network). In elements throughout.

#pragma once

#include <cstddef>

#include "trireme/comm/algorithm/partition.h"
#include "trireme/comm/operation.h"

namespace trireme::comm {

class Plan {
 public:
  Plan(const Operation& op, int size);

  // Whether `reader` needs anything of `from`'s input.
  bool reads(int reader, int from) const noexcept;
  // The part of `from`'s input that `reader` needs. For all_to_all only known for this rank's own
  // rows: from == me gives what is sent, reader == me says only how much arrives.
  Slice block(int reader, int from, int me) const noexcept;
  // Where it goes in the reader's output. REQUIRES: reader == me.
  std::size_t target(int from) const noexcept;

  // One block for all readers, or one for each.
  bool is_shared() const noexcept { return is_shared_; }
  // Readers combine the blocks of all members into one instead of keeping them apart.
  bool reduces() const noexcept { return op_.request.kind == OpKind::ReduceScatter; }
  // Elements of `member`'s input that anybody reads.
  std::size_t exposed(int member) const noexcept;

 private:
  const Operation& op_;
  int size_;
  bool is_shared_ = false;
  std::vector<std::size_t> offsets_;       // of counts
  std::vector<std::size_t> send_offsets_;  // all_to_all
};

}  // namespace trireme::comm
