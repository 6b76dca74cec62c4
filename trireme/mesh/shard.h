// Shard is what a rank holds of a tensor: a box of one of its views. The elements of a shard, in
// row-major order, are a flat sequence that ZeRO and checkpoints cut further, into ranges
// (ShardRange). A larger index in the shard is a larger index in the tensor, whatever the view.
//
//   const Shard heads(View::split({{3, 12, 64}, {768}}), {{0, 6, 0, 0}, {3, 6, 64, 768}});
//   heads.sizes();                    // (1152, 768): of the tensor that holds it
//
// Thread safety: immutable values.
// Errors:        InvalidInput for a box outside its view.

#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "trireme/mesh/box.h"
#include "trireme/mesh/view.h"

namespace trireme::mesh {

class Shard {
 public:
  // The whole of a scalar.
  Shard() = default;
  // The whole of a tensor of these sizes.
  Shard(std::vector<std::int64_t> sizes);  // NOLINT(google-explicit-constructor)
  explicit Shard(View view);
  Shard(View view, Box box);

  const View& view() const noexcept { return view_; }
  const Box& box() const noexcept { return box_; }
  std::int64_t count() const noexcept { return box_.count(); }
  bool is_whole() const { return box_.sizes == view_.sizes(); }
  // The shape of a tensor that holds the shard: one size per dimension of the whole tensor.
  std::vector<std::int64_t> sizes() const;

  friend bool operator==(const Shard&, const Shard&) = default;

 private:
  View view_;
  Box box_;
};

// The elements [begin, begin + count) of a shard.
struct ShardRange {
  Shard shard;
  std::int64_t begin = 0;
  std::int64_t count = 0;
};

// Elements that two ranges share: contiguous in both shards.
struct CommonRange {
  std::int64_t a = 0;  // index in the shard of either
  std::int64_t b = 0;
  std::int64_t count = 0;
};

// Calls `on_range` for all elements that two ranges of one tensor share, in ascending order; their
// views may differ. The time is proportional to the smaller number of contiguous runs.
// REQUIRES: tensors with the same number of elements.
void for_each_common(const ShardRange& a, const ShardRange& b,
                     const std::function<void(const CommonRange&)>& on_range);

}  // namespace trireme::mesh
