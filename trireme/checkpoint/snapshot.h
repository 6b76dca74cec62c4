// Snapshot is a copy of a State at one moment, with the layout of its file and aligned to a page.
// It is the only copy that saving makes; training waits only while this copy is made.
//
// Memory:        one buffer of the state's size, reused by the next snapshot.
// Thread safety: one thread at a time.

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
  // Throws Misuse for a piece outside its shard, Unsupported for a type that files do not have.
  void take(const State& state);

  // The layout of the last snapshot.
  const format::PartLayout& layout() const { return *layout_; }
  // The bytes of each piece, in the order of the state's pieces.
  std::vector<ByteView> contents() const;

 private:
  std::byte* place(std::size_t index) const;

  std::optional<format::PartLayout> layout_;
  at::Tensor buffer_;
};

}  // namespace trireme::checkpoint
