#include "trireme/model/resnet/resnet.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/model/feature_size.h"
#include "trireme/model/mlp/mlp.h"
#include "trireme/model/resnet/resnet_blocks.h"

namespace trireme::model {
namespace {

constexpr std::int64_t kSmallSide = 64;  // in pixels, at most

std::vector<std::int64_t> blocks_of(std::int64_t depth) {
  switch (depth) {
    case 14:
      return {2, 2, 2};
    case 18:
      return {2, 2, 2, 2};
    case 34:
    case 50:
      return {3, 4, 6, 3};
    default:
      throw Error(ErrorCode::InvalidInput,
                  "there is no resnet of " + std::to_string(depth) + " layers");
  }
}

bool is_small(const ResnetConfig& config, const FeatureSize& size) {
  if (config.stem != ResnetStem::Auto) return config.stem == ResnetStem::Small;
  return std::max(size.height, size.width) <= kSmallSide;
}

}  // namespace

Resnet::Resnet(const ResnetConfig& config, const data::Form& form) {
  const FeatureSize image = image_size("resnet", form);
  auto stem =
      std::make_shared<ResnetStemBlock>(image, config.first_channels(), is_small(config, image));
  FeatureSize size = stem->out();
  add("", std::move(stem));
  std::int64_t channels = config.first_channels();
  const std::vector<std::int64_t> counts = blocks_of(config.depth);
  for (std::size_t stage = 0; stage < counts.size(); ++stage, channels *= 2) {
    for (std::int64_t i = 0; i < counts[stage]; ++i) {
      auto block =
          std::make_shared<ResnetBlock>(ResnetBlock::Options{.in = size,
                                                             .channels = channels,
                                                             .stride = stage > 0 && i == 0 ? 2 : 1,
                                                             .is_bottleneck = config.depth == 50});
      size = block->out();
      add("layer" + std::to_string(stage + 1) + "." + std::to_string(i), std::move(block));
    }
  }
  add("", std::make_shared<ResnetHead>(size.channels, outputs_for(form)));
}

Start Resnet::start_of(const std::string& name, const at::Tensor& parameter) const {
  if (parameter.dim() != 4) return BlockModel::start_of(name, parameter);
  const auto given = static_cast<double>(parameter.numel() / parameter.size(1));
  return Start::normal(std::sqrt(2 / given));
}

}  // namespace trireme::model
