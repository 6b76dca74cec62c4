// The blocks of models for small images.
//
// Thread safety: as Block.

#pragma once

#include <memory>

#include "trireme/model/block.h"
#include "trireme/model/feature_size.h"
#include "trireme/model/layer/linear.h"

namespace trireme::model {

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

// A fully connected layer, followed by ReLU and dropout unless it is the last.
class Dense final : public Block {
 public:
  struct Options {
    Linear::Options linear;
    bool is_last = false;
    double dropout = 0;
    int index = 0;  // number of the dropout in the model
  };

  explicit Dense(const Options& options);
  Activations forward(Activations in, const Context& context) override;

 private:
  Options options_;
  std::shared_ptr<Linear> linear_;
};

// Numbers per image after pooling. Errors: InvalidInput if nothing is left after this many
// halvings.
std::int64_t pixels_left(const FeatureSize& size, std::size_t halvings);

}  // namespace trireme::model
