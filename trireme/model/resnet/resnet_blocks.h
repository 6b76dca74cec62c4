// The blocks of a Resnet. Each reports the size of its output.
//
// Thread safety: as Block.

#pragma once

#include <memory>
#include <vector>

#include "trireme/model/block.h"
#include "trireme/model/feature_size.h"
#include "trireme/model/layer/batch_norm.h"
#include "trireme/model/layer/linear.h"

namespace trireme::model {

// A convolution without bias, and the norm after it.
struct NormedConvolution {
  at::Tensor weight;
  std::shared_ptr<BatchNorm> norm;
  std::int64_t stride = 1;
  FeatureSize out;

  at::Tensor forward(const at::Tensor& x, const Context& context) const;
  double flops() const;
};

class ResnetStemBlock final : public Block {
 public:
  ResnetStemBlock(const FeatureSize& in, std::int64_t channels, bool is_small);
  Activations forward(Activations in, const Context& context) override;
  double forward_flops(const data::Form&) const override { return convolution_.flops(); }
  const FeatureSize& out() const noexcept { return out_; }

 private:
  NormedConvolution convolution_;
  bool is_small_;
  FeatureSize out_;
};

class ResnetBlock final : public Block {
 public:
  struct Options {
    FeatureSize in;
    std::int64_t channels = 1;  // of the inner convolutions
    std::int64_t stride = 1;
    bool is_bottleneck = false;  // three convolutions, the last with four times the channels
  };

  explicit ResnetBlock(const Options& options);
  Activations forward(Activations in, const Context& context) override;
  double forward_flops(const data::Form&) const override;
  const FeatureSize& out() const noexcept { return convolutions_.back().out; }

 private:
  std::vector<NormedConvolution> convolutions_;
  std::vector<NormedConvolution> shortcut_;  // empty if the size does not change
};

// The mean over the image, then a last layer.
class ResnetHead final : public Block {
 public:
  ResnetHead(std::int64_t channels, std::int64_t outputs);
  Activations forward(Activations in, const Context& context) override;

 private:
  std::shared_ptr<Linear> fc_;
};

}  // namespace trireme::model
