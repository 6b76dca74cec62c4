// Layout describes how a tensor lies on a mesh: along each axis it is either replicated, or cut
// along one dimension of a View of the tensor.
//
//   const Layout by_heads(View::split({{3, 12, 64}, {768}}), {{"tensor", 1}});
//   by_heads.shard(mesh.places());                    // what this rank holds
//
// Shards are as even as possible: index i of n holds [i * size / n, (i + 1) * size / n). If several
// axes cut one dimension, the first axis listed splits the dimension, and the next one splits each
// resulting shard.
//
// Thread safety: an immutable value.
// Errors:        InvalidInput for an axis that is listed twice or does not exist in the mesh, and
//                for a dimension that the view does not have.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/mesh/shard.h"

namespace trireme::mesh {

// A rank's position along one axis.
struct Place {
  std::string axis;
  int index = 0;
  int size = 1;
};

class Layout {
 public:
  struct Cut {
    std::string axis;
    int dim = 0;  // of the view

    friend bool operator==(const Cut&, const Cut&) = default;
  };

  // A scalar.
  Layout() = default;
  // Without cuts, the tensor is replicated along all axes.
  explicit Layout(View view, std::vector<Cut> cuts = {});

  const View& view() const noexcept { return view_; }
  const std::vector<Cut>& cuts() const noexcept { return cuts_; }
  // The dimension that this axis cuts; nothing if the tensor is replicated along the axis.
  std::optional<int> dim_of(std::string_view axis) const;

  // What the rank at these positions holds.
  Shard shard(const std::vector<Place>& places) const;
  // True if the rank is the first of the ranks that hold the same shard.
  bool is_first_holder(const std::vector<Place>& places) const;

  // "replicated", or "dim 1 of (3, 12, 64, 768) over tensor".
  std::string to_text() const;

  friend bool operator==(const Layout&, const Layout&) = default;

 private:
  View view_;
  std::vector<Cut> cuts_;
};

}  // namespace trireme::mesh
