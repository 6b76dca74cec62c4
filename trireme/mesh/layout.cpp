#include "trireme/mesh/layout.h"

#include <algorithm>
#include <utility>

#include "trireme/base/check.h"
#include "trireme/base/error.h"

namespace trireme::mesh {
namespace {

const Place& place_on(const std::vector<Place>& places, const std::string& axis) {
  const auto found = std::find_if(places.begin(), places.end(),
                                  [&](const Place& place) { return place.axis == axis; });
  if (found != places.end()) return *found;
  throw Error(ErrorCode::InvalidInput, "the mesh has no axis called " + axis);
}

}  // namespace

std::int64_t Block::count() const noexcept {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  return count;
}

Layout::Layout(std::vector<Cut> cuts) : cuts_(std::move(cuts)) {
  for (std::size_t i = 0; i < cuts_.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (cuts_[i].axis != cuts_[j].axis) continue;
      throw Error(ErrorCode::InvalidInput, "axis " + cuts_[i].axis + " cuts two dimensions");
    }
  }
}

std::optional<int> Layout::dim_of(std::string_view axis) const {
  for (const Cut& cut : cuts_) {
    if (cut.axis == axis) return cut.dim;
  }
  return std::nullopt;
}

Block Layout::block(const std::vector<Place>& places,
                    const std::vector<std::int64_t>& sizes) const {
  Block block{.begin = std::vector<std::int64_t>(sizes.size()), .sizes = sizes};
  for (const Cut& cut : cuts_) {
    const Place& place = place_on(places, cut.axis);
    const auto dim = static_cast<std::size_t>(cut.dim);
    if (cut.dim < 0 || dim >= sizes.size()) {
      throw Error(ErrorCode::InvalidInput, "axis " + cut.axis + " cuts dimension " +
                                               std::to_string(cut.dim) + " of a tensor of " +
                                               std::to_string(sizes.size()));
    }
    const std::int64_t size = block.sizes[dim];
    const std::int64_t begin = place.index * size / place.size;
    const std::int64_t end = (place.index + 1) * size / place.size;
    block.begin[dim] += begin;
    block.sizes[dim] = end - begin;
  }
  return block;
}

bool Layout::is_first_holder(const std::vector<Place>& places) const {
  return std::all_of(places.begin(), places.end(), [&](const Place& place) {
    return place.index == 0 || dim_of(place.axis).has_value();
  });
}

std::string Layout::to_text() const {
  std::string text;
  for (const Cut& cut : cuts_) {
    text += (text.empty() ? "dim " : ", dim ") + std::to_string(cut.dim) + " over " + cut.axis;
  }
  return text.empty() ? "replicated" : text;
}

std::vector<Stretch> stretches_of(const Block& block, const std::vector<std::int64_t>& sizes) {
  TRIREME_CHECK_EQ(block.sizes.size(), sizes.size(), "dimensions of a block");
  if (block.count() == 0) return {};
  // Trailing dimensions that the block covers completely are contiguous and belong to one stretch.
  std::size_t outer = sizes.size();
  std::int64_t length = 1;
  while (outer > 0) {
    --outer;
    length *= block.sizes[outer];
    if (block.sizes[outer] != sizes[outer]) break;
  }
  std::vector<std::int64_t> strides(sizes.size(), 1);
  for (std::size_t d = sizes.size(); d > 1; --d) strides[d - 2] = strides[d - 1] * sizes[d - 1];
  std::vector<Stretch> stretches;
  std::vector<std::int64_t> at(outer);
  while (true) {
    std::int64_t begin = 0;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      begin += (block.begin[d] + (d < outer ? at[d] : 0)) * strides[d];
    }
    stretches.push_back({begin, length});
    std::size_t d = outer;
    while (d > 0 && ++at[d - 1] == block.sizes[d - 1]) at[--d] = 0;
    if (d == 0) return stretches;
  }
}

}  // namespace trireme::mesh
