// MicroBatchSum adds up the gradients of the micro-batches of one rank, along the same binary tree
// as an ordered sum over ranks, so that the bits do not depend on which rank ran which micro-batch.
//
// It keeps one set of tensors per level of the tree, so V micro-batches need about log2(V) + 1
// sets. Undefined tensors count as zero.
//
// Thread safety: one thread at a time.

#pragma once

#include <ATen/core/Tensor.h>

#include <utility>
#include <vector>

namespace trireme::parallel {

class MicroBatchSum {
 public:
  // A subtree of micro-batches [first, last) and its sum, one tensor per parameter.
  struct Subtree {
    int first = 0;
    int last = 0;
    std::vector<at::Tensor> sums;
  };

  void begin(int micro_batch_count);
  // Takes ownership of the tensors. Micro-batches are added in ascending order; some may be
  // missing.
  void add(int micro_batch, std::vector<at::Tensor> gradients);
  // Returns the largest complete subtrees, from left to right, and removes them.
  std::vector<Subtree> take() { return std::exchange(subtrees_, {}); }

 private:
  bool are_siblings(const Subtree& left, const Subtree& right) const;

  int micro_batch_count_ = 0;
  std::vector<Subtree> subtrees_;
};

}  // namespace trireme::parallel
