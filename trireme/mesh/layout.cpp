#include "trireme/mesh/layout.h"

#include <algorithm>
#include <utility>

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

Layout::Layout(View view, std::vector<Cut> cuts) : view_(std::move(view)), cuts_(std::move(cuts)) {
  for (std::size_t i = 0; i < cuts_.size(); ++i) {
    const Cut& cut = cuts_[i];
    if (cut.dim < 0 || static_cast<std::size_t>(cut.dim) >= view_.sizes().size()) {
      throw Error(ErrorCode::InvalidInput, "axis " + cut.axis + " cuts dimension " +
                                               std::to_string(cut.dim) + " of a view of " +
                                               text_of(view_.sizes()));
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (cut.axis != cuts_[j].axis) continue;
      throw Error(ErrorCode::InvalidInput, "axis " + cut.axis + " cuts two dimensions");
    }
  }
}

std::optional<int> Layout::dim_of(std::string_view axis) const {
  for (const Cut& cut : cuts_) {
    if (cut.axis == axis) return cut.dim;
  }
  return std::nullopt;
}

Shard Layout::shard(const std::vector<Place>& places) const {
  Box box = Box::whole(view_.sizes());
  for (const Cut& cut : cuts_) {
    const Place& place = place_on(places, cut.axis);
    const auto dim = static_cast<std::size_t>(cut.dim);
    const std::int64_t size = box.sizes[dim];
    const std::int64_t begin = place.index * size / place.size;
    const std::int64_t end = (place.index + 1) * size / place.size;
    box.begin[dim] += begin;
    box.sizes[dim] = end - begin;
  }
  return Shard(view_, std::move(box));
}

bool Layout::is_first_holder(const std::vector<Place>& places) const {
  return std::all_of(places.begin(), places.end(), [&](const Place& place) {
    return place.index == 0 || dim_of(place.axis).has_value();
  });
}

std::string Layout::to_text() const {
  std::string text;
  for (const Cut& cut : cuts_) {
    text += (text.empty() ? "dim " : ", dim ") + std::to_string(cut.dim) + " of " +
            text_of(view_.sizes()) + " over " + cut.axis;
  }
  return text.empty() ? "replicated" : text;
}

}  // namespace trireme::mesh
