#include "trireme/mesh/box.h"

#include <algorithm>

#include "trireme/base/check.h"
#include "trireme/base/error.h"

namespace trireme::mesh {
namespace {

using Boxes = std::span<const Box*>;

// Boxes that overlap along a dimension, directly or through others.
struct Cluster {
  Boxes boxes;
  std::int64_t begin = 0, end = 0;
};

std::vector<Cluster> clusters_along(std::size_t dim, Boxes boxes) {
  std::ranges::sort(boxes, {}, [&](const Box* box) { return box->begin[dim]; });
  std::vector<Cluster> all;
  std::size_t first = 0;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    if (all.empty() || boxes[i]->begin[dim] >= all.back().end) {
      first = i;
      all.push_back({.boxes = {}, .begin = boxes[i]->begin[dim], .end = boxes[i]->end(dim)});
    }
    all.back().boxes = boxes.subspan(first, i - first + 1);
    all.back().end = std::max(all.back().end, boxes[i]->end(dim));
  }
  return all;
}

Box narrowed(Box box, std::size_t dim, std::int64_t begin, std::int64_t end) {
  box.begin[dim] = begin;
  box.sizes[dim] = end - begin;
  return box;
}

std::string gap_text(const Box& gap) {
  return "no box covers " + gap.to_text();
}

// REQUIRES: the boxes are within `part`. `depth` bounds the time that crafted boxes cost.
std::string fault_in_part(const Box& part, Boxes boxes, int depth) {
  if (boxes.empty()) return gap_text(part);
  if (boxes.size() == 1 && *boxes[0] == part) return {};
  const bool is_divided = depth > 0 || boxes.size() == 1;
  for (std::size_t dim = 0; is_divided && dim < part.sizes.size(); ++dim) {
    const std::vector<Cluster> clusters = clusters_along(dim, boxes);
    std::int64_t at = part.begin[dim];
    for (const Cluster& cluster : clusters) {
      if (cluster.begin > at) return gap_text(narrowed(part, dim, at, cluster.begin));
      at = cluster.end;
    }
    if (at < part.end(dim)) return gap_text(narrowed(part, dim, at, part.end(dim)));
    if (clusters.size() == 1) continue;
    for (const Cluster& cluster : clusters) {
      const Box inner = narrowed(part, dim, cluster.begin, cluster.end);
      if (std::string fault = fault_in_part(inner, cluster.boxes, depth - 1); !fault.empty()) {
        return fault;
      }
    }
    return {};
  }
  return "the boxes of " + boxes[0]->to_text() + " and " + boxes[1]->to_text() +
         " overlap, or no plane divides the boxes of " + part.to_text();
}

}  // namespace

std::int64_t count_of(const std::vector<std::int64_t>& sizes) {
  constexpr std::int64_t kCountMax = std::int64_t{1} << 60;  // 8 bytes per element still fit
  std::int64_t product = 1;  // excludes zeros, so that strides, which are products of some sizes,
                             // fit too
  bool is_empty = false;
  for (const std::int64_t size : sizes) {
    if (size < 0) throw Error(ErrorCode::InvalidInput, "a size of " + std::to_string(size));
    is_empty |= size == 0;
    if (size == 0) continue;
    if (product > kCountMax / size) {
      throw Error(ErrorCode::Exhausted, "more elements than can be counted");
    }
    product *= size;
  }
  return is_empty ? 0 : product;
}

std::string text_of(const std::vector<std::int64_t>& sizes) {
  std::string text;
  for (const std::int64_t size : sizes) text += (text.empty() ? "" : ", ") + std::to_string(size);
  return "(" + text + ")";
}

Box Box::whole(const std::vector<std::int64_t>& sizes) {
  return {.begin = std::vector<std::int64_t>(sizes.size()), .sizes = sizes};
}

std::int64_t Box::count() const noexcept {
  std::int64_t count = 1;
  for (const std::int64_t size : sizes) count *= size;
  return count;
}

bool Box::is_within(const std::vector<std::int64_t>& array) const noexcept {
  if (begin.size() != array.size() || sizes.size() != array.size()) return false;
  for (std::size_t d = 0; d < array.size(); ++d) {
    if (begin[d] < 0 || sizes[d] < 0 || begin[d] > array[d] || sizes[d] > array[d] - begin[d]) {
      return false;
    }
  }
  return true;
}

std::string Box::to_text() const {
  std::vector<std::int64_t> ends;
  for (std::size_t d = 0; d < sizes.size(); ++d) ends.push_back(end(d));
  return text_of(begin) + " to " + text_of(ends);
}

Box intersection(const Box& a, const Box& b) {
  TRIREME_CHECK_EQ(a.sizes.size(), b.sizes.size(), "dimensions of boxes");
  Box common = a;
  for (std::size_t d = 0; d < a.sizes.size(); ++d) {
    common.begin[d] = std::max(a.begin[d], b.begin[d]);
    common.sizes[d] = std::max<std::int64_t>(std::min(a.end(d), b.end(d)) - common.begin[d], 0);
  }
  return common;
}

std::string fault_in_cover(const std::vector<std::int64_t>& sizes, std::span<const Box> boxes) {
  constexpr int kDepthMax = 32;
  if (count_of(sizes) == 0) return {};
  std::vector<const Box*> order;
  for (const Box& box : boxes) order.push_back(&box);
  return fault_in_part(Box::whole(sizes), order, kDepthMax);
}

}  // namespace trireme::mesh
