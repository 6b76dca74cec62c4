#include "trireme/model/kind/autoencoder.h"

#include <cstdint>
#include <vector>

#include "trireme/base/config/fields.h"
#include "trireme/base/error.h"
#include "trireme/model/feature_size.h"
#include "trireme/model/registry.h"
#include "trireme/model/simple_blocks.h"

namespace trireme::model {

struct AutoencoderConfig {
  std::vector<std::int64_t> widths = {256, 64};
  std::int64_t code = 16;
  double dropout = 0;

  static void describe(config::Fields<AutoencoderConfig>& f) {
    f.add("hidden_sizes", &AutoencoderConfig::widths)
        .range(1, 1 << 20)
        .help("hidden sizes of the encoder's layers; the decoder mirrors them");
    f.add("latent_size", &AutoencoderConfig::code)
        .range(1, 1 << 20)
        .help("size of the code from which a sample is reconstructed");
    f.add("dropout", &AutoencoderConfig::dropout)
        .range(0.0, 0.99)
        .help("dropout probability of each layer except the code");
  }
};

Autoencoder::Autoencoder(const AutoencoderConfig& config, const data::Form& form) {
  require_numbers("autoencoder", form);
  if (form.classes != 0 || form.target_count() != form.input_count()) {
    throw Error(ErrorCode::InvalidInput,
                "an autoencoder reconstructs its samples, and the targets are not the samples; set "
                "data.target = \"input\"");
  }
  std::vector<std::int64_t> widths = config.widths;
  widths.insert(widths.begin(), form.input_count());
  std::vector<std::int64_t> back(widths.rbegin(), widths.rend());
  widths.push_back(config.code);
  back.insert(back.begin(), config.code);
  int index = 0;
  const auto add_all = [&](const std::string& path, const std::vector<std::int64_t>& sizes) {
    for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
      add(path + "." + std::to_string(i),
          std::make_shared<Dense>(Dense::Options{.inputs = sizes[i],
                                                 .outputs = sizes[i + 1],
                                                 .is_last = i + 2 == sizes.size(),
                                                 .dropout = config.dropout,
                                                 .index = index++}));
    }
  };
  add_all("encoder", widths);
  encoder_blocks_ = blocks().size();
  add_all("decoder", back);
}

at::Tensor Autoencoder::encode(const at::Tensor& input, const Context& context) {
  return forward_blocks(Activations(input), context, 0, encoder_blocks_).main;
}

at::Tensor Autoencoder::decode(const at::Tensor& codes, const Context& context) {
  return forward_blocks(Activations(codes), context, encoder_blocks_, blocks().size()).main;
}

void add_autoencoder(ModelRegistry& registry) {
  registry.add<AutoencoderConfig, Autoencoder>(
      "autoencoder", "an autoencoder: compresses samples to a code and reconstructs them");
}

}  // namespace trireme::model
