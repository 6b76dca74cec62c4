#include "trireme/mesh/shard.h"

#include <algorithm>
#include <utility>

#include "trireme/base/check.h"
#include "trireme/base/error.h"

namespace trireme::mesh {
namespace {

// Converts between indices in a shard and in its tensor.
class ShardIndex {
 public:
  explicit ShardIndex(const Shard& shard) {
    const Box& box = shard.box();
    const std::vector<std::int64_t>& view = shard.view().sizes();
    for (std::size_t d = 0; d < view.size(); ++d) {
      // A dimension that the box covers is contiguous with the dimension before it.
      if (!dims_.empty() && box.sizes[d] == view[d]) {
        for (std::int64_t* of : {&dims_.back().begin, &dims_.back().size, &dims_.back().total}) {
          *of *= view[d];
        }
      } else {
        dims_.push_back({.begin = box.begin[d], .size = box.sizes[d], .total = view[d]});
      }
    }
    if (dims_.empty()) dims_.push_back({.begin = 0, .size = 1, .total = 1});
    count_ = shard.count();
    for (std::size_t d = dims_.size(); d > 1; --d) {
      dims_[d - 2].stride = dims_[d - 1].stride * dims_[d - 1].total;
    }
  }

  std::int64_t in_tensor(std::int64_t index) const {
    std::int64_t at = 0;
    for (std::size_t d = dims_.size(); d > 0; --d) {
      const Dim& dim = dims_[d - 1];
      at += (dim.begin + index % dim.size) * dim.stride;
      index /= dim.size;
    }
    return at;
  }

  // The index of the first element that lies in the tensor at `at` or after it.
  std::int64_t first_from(std::int64_t at) const {
    std::int64_t rest = count_;  // elements of the shard with the same leading coordinates
    std::int64_t index = 0;
    for (const Dim& dim : dims_) {
      const std::int64_t place = at / dim.stride - dim.begin;
      if (place >= dim.size) return index + rest;
      if (place < 0) return index;
      at %= dim.stride;
      rest /= dim.size;
      index += place * rest;
    }
    return index;
  }

  // The end of the contiguous run that contains this element.
  std::int64_t run_end(std::int64_t index) const {
    const std::int64_t run = dims_.back().size;
    return (index / run + 1) * run;
  }

 private:
  struct Dim {
    std::int64_t begin = 0, size = 0, total = 0;  // of the box, and of the view
    std::int64_t stride = 1;
  };
  std::vector<Dim> dims_;
  std::int64_t count_ = 0;
};

}  // namespace

Shard::Shard(std::vector<std::int64_t> sizes) : Shard(View(std::move(sizes))) {}

Shard::Shard(View view) : view_(std::move(view)), box_(Box::whole(view_.sizes())) {}

Shard::Shard(View view, Box box) : view_(std::move(view)), box_(std::move(box)) {
  if (box_.is_within(view_.sizes())) return;
  throw Error(ErrorCode::InvalidInput, "the box of " + text_of(box_.sizes) + " at " +
                                           text_of(box_.begin) + " is outside a view of " +
                                           text_of(view_.sizes()));
}

std::vector<std::int64_t> Shard::sizes() const {
  std::vector<std::int64_t> sizes;
  for (const auto& factors : view_.grouped(box_.sizes)) sizes.push_back(count_of(factors));
  return sizes;
}

void for_each_common(const ShardRange& a, const ShardRange& b,
                     const std::function<void(const CommonRange&)>& on_range) {
  TRIREME_CHECK_EQ(a.shard.view().count(), b.shard.view().count(), "elements of a tensor");
  if (a.count <= 0 || b.count <= 0) return;
  if (a.shard.view() == b.shard.view() && intersection(a.shard.box(), b.shard.box()).count() == 0) {
    return;
  }
  const ShardIndex of_a(a.shard), of_b(b.shard);
  const std::int64_t end_a = a.begin + a.count, end_b = b.begin + b.count;
  std::int64_t at_a = a.begin, at_b = b.begin;
  while (at_a < end_a && at_b < end_b) {
    const std::int64_t place_a = of_a.in_tensor(at_a), place_b = of_b.in_tensor(at_b);
    if (place_a < place_b) {
      at_a = of_a.first_from(place_b);
    } else if (place_b < place_a) {
      at_b = of_b.first_from(place_a);
    } else {
      const std::int64_t count = std::min(std::min(of_a.run_end(at_a), end_a) - at_a,
                                          std::min(of_b.run_end(at_b), end_b) - at_b);
      on_range({.a = at_a, .b = at_b, .count = count});
      at_a += count;
      at_b += count;
    }
  }
}

}  // namespace trireme::mesh
