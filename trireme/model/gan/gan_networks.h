// The generator and the discriminator of a Gan.
//
// Thread safety: as torch::nn::Module.

#pragma once

#include <torch/nn/module.h>

#include <memory>
#include <vector>

#include "trireme/model/feature_size.h"
#include "trireme/model/layer/batch_norm.h"
#include "trireme/model/layer/linear.h"

namespace trireme::model {

// Registers the weights of a layer under its name.
struct GanLayer : torch::nn::Module {
  // Without a bias if bias_count is 0.
  GanLayer(std::vector<std::int64_t> sizes, std::int64_t bias_count);

  at::Tensor weight, bias;
};

// Maps random numbers and a class to an image: a linear layer, then two transposed convolutions
// that each double its size.
class GanGenerator : public torch::nn::Module {
 public:
  GanGenerator(const FeatureSize& picture, std::int64_t width, std::int64_t inputs);

  // (B, inputs) to (B, C, H, W), values from -1 to 1.
  at::Tensor forward(const at::Tensor& from, const Context& context) const;

 private:
  FeatureSize first_;  // output size of the linear layer
  std::shared_ptr<Linear> project_;
  std::shared_ptr<BatchNorm> norm1_, norm2_;
  std::shared_ptr<GanLayer> conv1_, conv2_;
};

// Whether a pass trains the weights.
enum class Learns { Yes, No };

// Maps an image to how real it is as an image of each class (Miyato and Koyama, 2018: one part for
// all classes and one for each).
class GanDiscriminator : public torch::nn::Module {
 public:
  GanDiscriminator(const FeatureSize& picture, std::int64_t width, std::int64_t classes);

  // (B, C, H, W) to (B, classes). A pass that does not train does not update running statistics
  // either.
  at::Tensor forward(const at::Tensor& picture, const Context& context, Learns learns) const;

 private:
  at::Tensor normed(const at::Tensor& x, const Context& context, Learns learns) const;

  std::shared_ptr<GanLayer> conv1_, conv2_, all_, each_;
  std::shared_ptr<BatchNorm> norm2_;
};

}  // namespace trireme::model
