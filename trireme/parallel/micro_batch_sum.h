// MicroBatchSum adds up the gradients of slots that one rank runs one after the other, along the
// same binary tree as an ordered sum over ranks: the bits do not depend on who ran which slot.
//
// It keeps one set of tensors a level of the tree, so V slots need about log2(V) + 1 of them.
// Undefined tensors count as zero.
//
// Threads: one.

#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace trireme::parallel {

class MicroBatchSum {
 public:
  // A subtree of slots [first, last) and its sum, one tensor a parameter.
  struct Subtree {
    int first = 0;
    int last = 0;
    std::vector<at::Tensor> sums;
  };

  void begin(int micro_batch_count);
  // Takes the tensors; slots come in ascending order, not necessarily all of them.
  void add(int micro_batch, std::vector<at::Tensor> gradients);
  // The largest subtrees that are complete, from left to right; empty afterwards.
  std::vector<Subtree> take();

 private:
  bool are_siblings(const Subtree& left, const Subtree& right) const;

  int micro_batch_count_ = 0;
  std::vector<Subtree> subtrees_;
};

}  // namespace trireme::parallel
