// View looks at a tensor with its dimensions split into factors: a fused weight of queries, keys
// and values (3W, W) is {{3, heads, head_dim}, {W}}, so that a Layout can cut it by heads, and a
// stack of experts is its own sizes. The row-major order of the elements is the same in every view
// of a tensor.
//
// Thread safety: an immutable value.
// Errors:        InvalidInput for a negative size and for a dimension without factors; Exhausted
//                for more elements than can be counted.

#pragma once

#include <cstdint>
#include <vector>

namespace trireme::mesh {

class View {
 public:
  // A scalar.
  View() = default;
  // The tensor's own dimensions.
  View(std::vector<std::int64_t> tensor_sizes);  // NOLINT(google-explicit-constructor)
  // The factors of each dimension of the tensor.
  static View split(const std::vector<std::vector<std::int64_t>>& factors);

  const std::vector<std::int64_t>& tensor_sizes() const noexcept { return tensor_sizes_; }
  const std::vector<std::int64_t>& sizes() const noexcept { return sizes_; }
  std::int64_t count() const noexcept { return count_; }
  // Whether its dimensions are those of the tensor.
  bool is_plain() const noexcept { return sizes_.size() == tensor_sizes_.size(); }
  // Groups one number per dimension of the view by the tensor's dimensions.
  std::vector<std::vector<std::int64_t>> grouped(const std::vector<std::int64_t>& numbers) const;

  friend bool operator==(const View&, const View&) = default;

 private:
  std::vector<std::int64_t> tensor_sizes_;
  std::vector<std::int64_t> sizes_;
  std::vector<std::size_t> factor_counts_;  // by dimension of the tensor
  std::int64_t count_ = 1;
};

}  // namespace trireme::mesh
