// The two networks of a Gan.
//
// Threads: as torch::nn::Module.

#pragma once

#include <torch/nn/module.h>

#include <memory>
#include <vector>

#include "trireme/model/batch_norm.h"
#include "trireme/model/feature_size.h"
#include "trireme/model/linear.h"

namespace trireme::model {

// The weights of a layer under its name.
struct GanLayer : torch::nn::Module {
  // Without a bias where it has 0 outputs.
  GanLayer(std::vector<std::int64_t> sizes, std::int64_t bias_count);

  at::Tensor weight, bias;
};

// Numbers and a class to a picture: a layer, then two transposed convolutions that double its size.
class GanGenerator : public torch::nn::Module {
 public:
  GanGenerator(const FeatureSize& picture, std::int64_t width, std::int64_t inputs);

  // (B, inputs) to (B, C, H, W), values from -1 to 1.
  at::Tensor forward(const at::Tensor& from, const Context& context) const;

 private:
  FeatureSize first_;  // what the layer makes
  std::shared_ptr<Linear> project_;
  std::shared_ptr<BatchNorm> norm1_, norm2_;
  std::shared_ptr<GanLayer> conv1_, conv2_;
};

// Whether its weights are to learn from a pass.
enum class Learns { Yes, No };

// A picture to how real it is as one of each class (Miyato and Koyama, 2018: a part for all classes
// and one for each).
class GanDiscriminator : public torch::nn::Module {
 public:
  GanDiscriminator(const FeatureSize& picture, std::int64_t width, std::int64_t classes);

  // (B, C, H, W) to (B, classes). A pass that does not learn moves no running mean either.
  at::Tensor forward(const at::Tensor& picture, const Context& context, Learns learns) const;

 private:
  at::Tensor normed(const at::Tensor& x, const Context& context, Learns learns) const;

  std::shared_ptr<GanLayer> conv1_, conv2_, all_, each_;
  std::shared_ptr<BatchNorm> norm2_;
};

}  // namespace trireme::model
