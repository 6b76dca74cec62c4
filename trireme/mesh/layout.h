// Layout says how a tensor lies on a mesh: along each axis every place has all of it, or a slice of
// one of its dimensions.
//
//   const Layout columns({{"tensor", 1}});            // replicas along all other axes
//   columns.block(mesh.places(), {768, 3072});        // what this rank holds of it
//
// Slices are as even as they go: place i of n has [i * size / n, (i + 1) * size / n). Where several
// axes cut one dimension, the first that is named cuts first, the next one its slices.
//
// Threads: a value; immutable.
// Failure: InvalidInput for an axis that is cut twice, or that the mesh does not have, and for a
//          dimension that the tensor does not have.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trireme::mesh {

// Where a rank is along one axis.
struct Place {
  std::string axis;
  int index = 0;
  int size = 1;
};

// A box in a tensor, by dimension.
struct Block {
  std::vector<std::int64_t> begin;
  std::vector<std::int64_t> sizes;

  std::int64_t count() const noexcept;
  friend bool operator==(const Block&, const Block&) = default;
};

// Elements that lie one after the other, in the order of the last dimension first.
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

  // Replicas everywhere.
  Layout() = default;
  explicit Layout(std::vector<Cut> cuts);

  const std::vector<Cut>& cuts() const noexcept { return cuts_; }
  // Nothing: replicas along this axis.
  std::optional<int> dim_of(std::string_view axis) const;

  // What the rank at these places holds of a tensor of these sizes.
  Block block(const std::vector<Place>& places, const std::vector<std::int64_t>& sizes) const;
  // Whether it is the first of those who hold the same: one of each saves it.
  bool is_first_holder(const std::vector<Place>& places) const;

  // "replicated", or "dim 1 over tensor".
  std::string to_text() const;

  friend bool operator==(const Layout&, const Layout&) = default;

 private:
  std::vector<Cut> cuts_;
};

// The elements of a block, as they lie in the whole tensor: what a checkpoint's pieces are made of.
std::vector<Stretch> stretches_of(const Block& block, const std::vector<std::int64_t>& sizes);

}  // namespace trireme::mesh
