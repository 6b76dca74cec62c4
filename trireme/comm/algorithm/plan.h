// Plan describes a collective as pure arithmetic: which rank reads which part of which input, and
// where it writes that part.
//
// Every collective except all_reduce, reduce and barrier is described by reads(), block() and
// target(). A transport implements them with reads (shared memory) or messages (network). All
// values are in elements.

#pragma once

#include <cstddef>

#include "trireme/comm/algorithm/partition.h"
#include "trireme/comm/operation.h"

namespace trireme::comm {

class Plan {
 public:
  Plan(const Operation& op, int size);

  // Whether `reader` needs any part of `from`'s input.
  bool reads(int reader, int from) const noexcept;
  // The part of `from`'s input that `reader` needs. For all_to_all a rank knows only its own rows:
  // from == me gives the part that this rank sends; reader == me gives only the number of elements
  // that arrive.
  MemberSlice block(int reader, int from, int me) const noexcept;
  // Offset of that part in the reader's output. REQUIRES: reader == me.
  std::size_t target(int from) const noexcept;

  // Whether all readers need the same block, instead of one block per reader.
  bool is_shared() const noexcept { return is_shared_; }
  // Whether readers combine the blocks of all members into one instead of storing them separately.
  bool reduces() const noexcept { return op_.request.kind == OpKind::ReduceScatter; }
  // Number of elements of `member`'s input that any rank reads.
  std::size_t exposed(int member) const noexcept;

 private:
  const Operation& op_;
  int size_;
  bool is_shared_ = false;
  std::vector<std::size_t> offsets_;       // prefix sums of counts
  std::vector<std::size_t> send_offsets_;  // for all_to_all
};

}  // namespace trireme::comm
