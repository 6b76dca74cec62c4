// Snapshot is a copy of a State as it was at one moment, laid out as its file will be, from the
// beginning of a page on. It is the only copy that saving makes, and the only time for which
// training waits.
//
// Memory:  one buffer as large as the state, kept for the next time.
// Threads: one at a time.

#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

#include "trireme/base/bytes.h"
#include "trireme/checkpoint/format/part.h"
#include "trireme/checkpoint/state.h"

namespace trireme::checkpoint {

class Snapshot {
 public:
  // Throws Misuse for a piece outside its tensor, Unsupported for a type that files do not have.
  void take(const State& state);

  // Of what was taken last.
  const format::PartLayout& layout() const { return *layout_; }
  // The bytes of each piece, in the order of the state.
  std::vector<ByteView> contents() const;

 private:
  std::byte* place(std::size_t index) const;

  std::optional<format::PartLayout> layout_;
  at::Tensor buffer_;
};

}  // namespace trireme::checkpoint
