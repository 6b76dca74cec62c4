#include "trireme/model/kind/cnn.h"

#include "trireme/model/feature_size.h"
#include "trireme/model/registry.h"

namespace trireme::model {

Cnn::Cnn(const CnnConfig& config, const data::Form& form) {
  FeatureSize size = image_size("cnn", form);
  for (std::size_t i = 0; i < config.channels.size(); ++i) {
    auto block = std::make_shared<PooledConvolution>(size, config.channels[i], config.kernel);
    size = block->out();
    add("conv" + std::to_string(i + 1), std::move(block));
  }
  const std::int64_t pixels = pixels_left(size, config.channels.size());
  add("fc1", std::make_shared<Dense>(Dense::Options{
                 .inputs = pixels, .outputs = config.hidden, .dropout = config.dropout}));
  add("fc2", std::make_shared<Dense>(Dense::Options{
                 .inputs = config.hidden, .outputs = outputs_for(form), .is_last = true}));
}

void add_cnn(ModelRegistry& registry) {
  registry.add<CnnConfig, Cnn>("cnn", "a convolutional network for small images");
}

}  // namespace trireme::model
