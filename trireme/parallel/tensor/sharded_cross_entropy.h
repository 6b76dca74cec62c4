// ShardedCrossEntropy is the cross entropy of logits that are cut over ranks by vocabulary. No rank
// ever holds all logits: ranks exchange three numbers per target, the largest logit, the sum of the
// exponentials and the target's logit (with label smoothing also the sum of the logits).
//
// Logits of the whole vocabulary, as evaluations have them, are computed without communication.
//
// Errors:        Unsupported for targets that are class probabilities; otherwise as Group.
// Thread safety: one thread per group.

#pragma once

#include "trireme/comm/group.h"
#include "trireme/model/loss/loss.h"

namespace trireme::parallel::tensor {

// The part of the vocabulary whose logits this rank computes.
struct VocabularyShard {
  std::int64_t begin = 0;
  std::int64_t count = 0;
  std::int64_t total = 0;
};

class ShardedCrossEntropy final : public model::CrossEntropyStrategy {
 public:
  ShardedCrossEntropy(const comm::Group& group, const VocabularyShard& shard)
      : group_(group), shard_(shard) {}

  at::Tensor sum(const model::CrossEntropy& layer, const at::Tensor& logits,
                 const at::Tensor& target) override;

 private:
  comm::Group group_;
  VocabularyShard shard_;
};

// The same loss for logits that are cut. Throws Unsupported if the loss is no cross entropy, or has
// class weights or a focus, which need all logits of a target.
std::shared_ptr<const model::Loss> sharded(const model::Loss& loss, const comm::Group& group,
                                           const VocabularyShard& shard);

}  // namespace trireme::parallel::tensor
