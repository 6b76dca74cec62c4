#include "trireme/mesh/view.h"

#include <utility>

#include "trireme/base/error.h"
#include "trireme/mesh/box.h"

namespace trireme::mesh {

View::View(std::vector<std::int64_t> tensor_sizes)
    : tensor_sizes_(std::move(tensor_sizes)),
      sizes_(tensor_sizes_),
      factor_counts_(tensor_sizes_.size(), 1),
      count_(count_of(tensor_sizes_)) {}

View View::split(const std::vector<std::vector<std::int64_t>>& factors) {
  View view;
  for (const std::vector<std::int64_t>& own : factors) {
    if (own.empty()) {
      throw Error(ErrorCode::InvalidInput, "dimension " +
                                               std::to_string(view.factor_counts_.size()) +
                                               " of a tensor has no factors in its view");
    }
    view.tensor_sizes_.push_back(count_of(own));
    view.factor_counts_.push_back(own.size());
    view.sizes_.insert(view.sizes_.end(), own.begin(), own.end());
  }
  view.count_ = count_of(view.sizes_);
  return view;
}

std::vector<std::vector<std::int64_t>> View::grouped(
    const std::vector<std::int64_t>& numbers) const {
  std::vector<std::vector<std::int64_t>> groups;
  auto next = numbers.begin();
  for (const std::size_t count : factor_counts_) {
    const auto begin = std::exchange(next, next + static_cast<std::ptrdiff_t>(count));
    groups.emplace_back(begin, next);
  }
  return groups;
}

}  // namespace trireme::mesh
