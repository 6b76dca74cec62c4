// BlockModel is a model that consists only of an ordered list of blocks.
//
//   class Net : public model::BlockModel {
//    public:
//     Net() {
//       add("stem", std::make_shared<Stem>());
//       add("head", std::make_shared<Head>());
//     }
//   };
//
// Names: a block's parameter `weight` is the model's `stem.weight`. Blocks may share a path ("h.0"
//        for attention and for the mlp after it) if no two of their layers and parameters have the
//        same name. The same tensor in two blocks is tied: the model has it once, under its first
//        name. All other layers of the blocks are modules of the model, too.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trireme/model/model.h"

namespace trireme::model {

class BlockModel : public Model {
 public:
  at::Tensor forward(const at::Tensor& input, const Context& context) override;
  // Runs only blocks [begin, end): a stage of a pipeline.
  Activations forward_blocks(Activations in, const Context& context, std::size_t begin,
                             std::size_t end);

  std::vector<std::shared_ptr<Block>> blocks() const override { return blocks_; }
  // The paths under which the blocks were added, in order.
  const std::vector<std::string>& paths() const noexcept { return paths_; }

  void set_recompute(bool is_on) override { is_recomputed_ = is_on; }
  bool is_recomputed() const noexcept { return is_recomputed_; }
  // The compute type of each block, in order; nullopt uses the autocast setting. An empty list uses
  // it for all blocks.
  void set_precisions(std::vector<std::optional<at::ScalarType>> types);
  void set_gate(std::shared_ptr<Gate> gate) override { gate_ = std::move(gate); }
  double flops_a_sample(const data::Form& form) const override;
  // PyTorch's defaults.
  Start start_of(const std::string& name, const at::Tensor& parameter) const override;
  void train(bool on = true) override;

 protected:
  // The model does not have the tensors `elsewhere`, although the block reads them.
  // REQUIRES: all of the block's parameters and buffers are registered.
  void add(const std::string& path, std::shared_ptr<Block> block,
           const std::vector<at::Tensor>& elsewhere = {});

 private:
  Activations run_block(std::size_t index, Activations in, const Context& context);
  void watch_backward(std::size_t block, const std::vector<at::Tensor>& taken,
                      const std::vector<at::Tensor>& given) const;

  std::vector<std::shared_ptr<Block>> blocks_;
  std::vector<std::string> paths_;
  std::vector<std::optional<at::ScalarType>> types_;
  std::shared_ptr<Gate> gate_;
  bool is_recomputed_ = false;
};

}  // namespace trireme::model
