// Blocks that several models consist of: a fully connected layer, and a convolution with pooling.
//
// Names:         weight, bias.
// Thread safety: as Block.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "trireme/model/block.h"
#include "trireme/model/feature_size.h"
#include "trireme/model/layer/linear.h"

namespace trireme::model {

// A fully connected layer of all numbers of a sample, followed by ReLU and dropout unless it is the
// last.
class Dense final : public Block {
 public:
  struct Options {
    std::int64_t inputs = 1;
    std::int64_t outputs = 1;
    bool has_bias = true;
    bool is_last = false;
    double dropout = 0;
    int index = 0;  // number of the dropout in the model
  };

  explicit Dense(const Options& options);
  Activations forward(Activations in, const Context& context) override;
  // Its parameters are those of the block.
  Linear& layer() noexcept { return *layer_; }

 private:
  Options options_;
  std::shared_ptr<Linear> layer_;
};

// Empty if padding can keep the size of the image. The check of a setting.
inline std::string mistake_in_kernel_size(const std::int64_t& kernel) {
  return kernel % 2 ? ""
                    : "is even; use an odd kernel size, for which padding keeps the image size";
}

// A convolution that keeps the size of the image, pooling that halves it, and ReLU.
class PooledConvolution final : public Block {
 public:
  PooledConvolution(const FeatureSize& in, std::int64_t channels, std::int64_t kernel);
  Activations forward(Activations in, const Context& context) override;
  double forward_flops(const data::Form&) const override;
  FeatureSize out() const noexcept;

 private:
  FeatureSize in_;
  std::int64_t padding_;
  at::Tensor weight_, bias_;
};

// Numbers per image after pooling. Errors: InvalidInput if nothing is left after this many
// halvings.
std::int64_t pixels_left(const FeatureSize& size, std::size_t halvings);

}  // namespace trireme::model
