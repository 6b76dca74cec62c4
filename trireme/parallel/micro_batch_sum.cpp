#include "trireme/parallel/micro_batch_sum.h"

#include <utility>

#include "trireme/base/check.h"
#include "trireme/comm/kernel/combine.h"

namespace trireme::parallel {

void MicroBatchSum::begin(int micro_batch_count) {
  micro_batch_count_ = micro_batch_count;
  subtrees_.clear();
}

// Walks from the root to the node whose halves both would be.
bool MicroBatchSum::are_siblings(const Subtree& left, const Subtree& right) const {
  if (left.last != right.first) return false;
  int first = 0;
  int last = micro_batch_count_;
  while (last - first > 1) {
    const int middle = static_cast<int>(
        comm::tree_middle(static_cast<std::size_t>(first), static_cast<std::size_t>(last)));
    if (left.first == first && left.last == middle && right.last == last) return true;
    (left.first < middle ? last : first) = middle;
  }
  return false;
}

void MicroBatchSum::add(int micro_batch, std::vector<at::Tensor> gradients) {
  TRIREME_CHECK(subtrees_.empty() || subtrees_.back().last <= micro_batch, "micro-batch ",
                micro_batch, " is not added in ascending order");
  subtrees_.push_back(
      {.first = micro_batch, .last = micro_batch + 1, .sums = std::move(gradients)});
  while (subtrees_.size() > 1 && are_siblings(subtrees_[subtrees_.size() - 2], subtrees_.back())) {
    Subtree right = std::move(subtrees_.back());
    subtrees_.pop_back();
    Subtree& left = subtrees_.back();
    for (std::size_t i = 0; i < left.sums.size(); ++i) {
      if (!left.sums[i].defined()) {
        left.sums[i] = std::move(right.sums[i]);
      } else if (right.sums[i].defined()) {
        left.sums[i].add_(right.sums[i]);
      }
    }
    left.last = right.last;
  }
}
}  // namespace trireme::parallel
