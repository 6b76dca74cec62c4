// Layout describes how a tensor is distributed over a mesh: along each axis the tensor is either
// replicated or sharded on one of its dimensions.
//
//   const Layout columns({{"tensor", 1}});            // replicated along all other axes
//   columns.block(mesh.places(), {768, 3072});        // the shard of this rank
//
// Shards are as even as possible: index i of n holds [i * size / n, (i + 1) * size / n). If several
// axes shard one dimension, the first axis listed splits the dimension, and the next one splits
// each resulting shard.
//
// Thread safety: an immutable value.
// Errors:        InvalidInput for an axis that is listed twice or does not exist in the mesh, and
//                for a dimension that the tensor does not have.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trireme::mesh {

// A rank's position along one axis.
struct Place {
  std::string axis;
  int index = 0;
  int size = 1;
};

// A rectangular part of a tensor: begin and size of each dimension.
struct Block {
  std::vector<std::int64_t> begin;
  std::vector<std::int64_t> sizes;

  std::int64_t count() const noexcept;
  friend bool operator==(const Block&, const Block&) = default;
};

// Contiguous elements in row-major order.
struct Stretch {
  std::int64_t begin = 0;
  std::int64_t count = 0;

  friend bool operator==(const Stretch&, const Stretch&) = default;
};

class Layout {
 public:
  struct Cut {
    std::string axis;
    int dim = 0;

    friend bool operator==(const Cut&, const Cut&) = default;
  };

  // Replicated along all axes.
  Layout() = default;
  explicit Layout(std::vector<Cut> cuts);

  const std::vector<Cut>& cuts() const noexcept { return cuts_; }
  // The dimension that this axis shards; nothing if the tensor is replicated along the axis.
  std::optional<int> dim_of(std::string_view axis) const;

  // The shard that the rank at these positions holds of a tensor of these sizes.
  Block block(const std::vector<Place>& places, const std::vector<std::int64_t>& sizes) const;
  // True if the rank is the first of the ranks that hold the same shard. Only that rank saves it.
  bool is_first_holder(const std::vector<Place>& places) const;

  // "replicated", or "dim 1 over tensor".
  std::string to_text() const;

  friend bool operator==(const Layout&, const Layout&) = default;

 private:
  std::vector<Cut> cuts_;
};

// The contiguous ranges of a block within the whole tensor; the pieces of a checkpoint consist of
// them.
std::vector<Stretch> stretches_of(const Block& block, const std::vector<std::int64_t>& sizes);

}  // namespace trireme::mesh
