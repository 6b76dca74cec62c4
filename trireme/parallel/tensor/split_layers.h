// Adapters that make layers communicate after their weights were cut over the ranks of a group.
//
//   OutputsSplit      Linear: x is whole, the result is this rank's part of the outputs
//   InputsSplit       Linear: x is this rank's part, the result is whole; the bias is added once
//   VocabularySplit   Embedding: this rank looks up its rows, and the results are summed
//   LogitsSplit       Linear: as OutputsSplit in training; evaluations get all logits
//
// Thread safety: as the layer's forward.
// Lifetime:      an adapter keeps a handle to the group.

#pragma once

#include <memory>
#include <utility>

#include "trireme/comm/group.h"
#include "trireme/model/layer/embedding.h"
#include "trireme/model/layer/linear.h"
#include "trireme/parallel/tensor/sharded_cross_entropy.h"

namespace trireme::parallel::tensor {

// The input that several layers have in common, such as the projections to queries, keys and
// values: its gradient is summed over the ranks once.
class CommonInput {
 public:
  explicit CommonInput(comm::Group group) : group_(std::move(group)) {}
  void add_user() { ++users_; }
  at::Tensor enter(const at::Tensor& x);

 private:
  comm::Group group_;
  int users_ = 0;
  int left_ = 0;  // users that have not asked for entered_ yet
  at::Tensor x_, entered_;
};

class OutputsSplit final : public model::Adapter<model::Linear> {
 public:
  explicit OutputsSplit(std::shared_ptr<CommonInput> input) : input_(std::move(input)) {
    input_->add_user();
  }
  at::Tensor forward(const model::Linear& layer, const at::Tensor& x, const model::Context& context,
                     const Next& next) override;

 private:
  std::shared_ptr<CommonInput> input_;
};

// Must be the last adapter: it replaces the layer's own computation.
class InputsSplit final : public model::Adapter<model::Linear> {
 public:
  explicit InputsSplit(comm::Group group) : group_(std::move(group)) {}
  at::Tensor forward(const model::Linear& layer, const at::Tensor& x, const model::Context& context,
                     const Next& next) override;

 private:
  comm::Group group_;
};

class VocabularySplit final : public model::Adapter<model::Embedding> {
 public:
  VocabularySplit(comm::Group group, const VocabularyShard& shard)
      : group_(std::move(group)), shard_(shard) {}
  at::Tensor forward(const model::Embedding& layer, const at::Tensor& tokens,
                     const model::Context& context, const Next& next) override;

 private:
  comm::Group group_;
  VocabularyShard shard_;
};

class LogitsSplit final : public model::Adapter<model::Linear> {
 public:
  LogitsSplit(comm::Group group, std::vector<VocabularyShard> shards)
      : group_(std::move(group)), shards_(std::move(shards)) {}
  at::Tensor forward(const model::Linear& layer, const at::Tensor& x, const model::Context& context,
                     const Next& next) override;

 private:
  at::Tensor gathered(const at::Tensor& logits) const;

  comm::Group group_;
  std::vector<VocabularyShard> shards_;  // by rank
};

}  // namespace trireme::parallel::tensor
