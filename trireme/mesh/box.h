// Box is a rectangular part of an array: the first element and the number of elements along each
// dimension.
//
// Thread safety: values; the functions are pure.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace trireme::mesh {

// The product of the sizes. Throws Exhausted if the count or its bytes exceed 63 bits, InvalidInput
// for a negative size.
std::int64_t count_of(const std::vector<std::int64_t>& sizes);

// "(3, 128)"
std::string text_of(const std::vector<std::int64_t>& sizes);

struct Box {
  std::vector<std::int64_t> begin;
  std::vector<std::int64_t> sizes;

  static Box whole(const std::vector<std::int64_t>& sizes);

  std::int64_t count() const noexcept;
  std::int64_t end(std::size_t dim) const { return begin[dim] + sizes[dim]; }
  bool is_within(const std::vector<std::int64_t>& array) const noexcept;
  // "(0, 2, 0) to (3, 4, 128)"; the end is exclusive.
  std::string to_text() const;

  friend bool operator==(const Box&, const Box&) = default;
  friend auto operator<=>(const Box&, const Box&) = default;
};

// The elements that both boxes contain; without elements if there are none. REQUIRES: the same
// number of dimensions.
Box intersection(const Box& a, const Box& b);

// Describes an element that the boxes do not cover exactly once; empty if they cover an array of
// these sizes. It divides the array along planes that no box crosses until each part is one box, so
// the time grows almost linearly with the number of boxes; boxes that no plane divides, which no
// Layout makes, count as a fault. REQUIRES: boxes with elements, within the array.
std::string fault_in_cover(const std::vector<std::int64_t>& sizes, std::span<const Box> boxes);

}  // namespace trireme::mesh
