// StageModel is a part of a BlockModel: the blocks of one or several stages of a pipeline. Its
// parameters have the names that they have in the whole model.
//
// A tied tensor that another rank updates is `elsewhere`: blocks read it, but it is no parameter of
// this model.
//
// Memory:        only its own parameters get memory, in initialize(); the whole model, whose other
//                blocks it knows only for names, initial values and its own loss, was made with
//                WithoutMemory.
// Thread safety: as BlockModel.
// Errors:        a stage has no forward pass of its own: forward() throws Misuse.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "trireme/model/block_model.h"
#include "trireme/model/block_range.h"

namespace trireme::model {

class StageModel final : public BlockModel {
 public:
  StageModel(std::shared_ptr<const BlockModel> whole, const std::vector<BlockRange>& stages,
             const std::vector<at::Tensor>& elsewhere);

  // By stage of this model: its blocks among those of this model.
  const std::vector<BlockRange>& stages() const noexcept { return stages_; }
  // Gives every parameter memory and its initial values: bit for bit those of the whole model.
  void initialize(std::uint64_t seed);

  at::Tensor forward(const at::Tensor& input, const Context& context) override;
  Start start_of(const std::string& name, const at::Tensor& parameter) const override;
  std::shared_ptr<const Loss> own_loss() const override { return whole_->own_loss(); }
  Published published(const std::string& name) const override { return whole_->published(name); }

 private:
  std::shared_ptr<const BlockModel> whole_;
  std::vector<BlockRange> stages_;
};

// A tensor that several blocks read, with the indices of these blocks, ascending.
struct TiedTensor {
  at::Tensor tensor;
  std::vector<std::size_t> blocks;
};
// In the order of the first block.
std::vector<TiedTensor> tied_tensors(const BlockModel& model);

}  // namespace trireme::model
