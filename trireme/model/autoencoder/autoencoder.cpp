#include "trireme/model/autoencoder/autoencoder.h"

#include "trireme/base/error.h"
#include "trireme/model/layer/dropout.h"
#include "trireme/model/layer/linear.h"
#include "trireme/model/mlp/mlp.h"

namespace trireme::model {
namespace {

class CoderLayer final : public Block {
 public:
  struct Options {
    Linear::Options linear;
    int index = 0;
    bool is_rectified = true;
    double dropout = 0;
  };

  explicit CoderLayer(const Options& options)
      : options_(options), linear_(std::make_shared<Linear>(options.linear)) {
    register_parameter("weight", linear_->weight);
    register_parameter("bias", linear_->bias);
  }

  Activations forward(Activations in, const Context& context) override {
    at::Tensor y = linear_->forward(in.main.flatten(1), context);
    if (options_.is_rectified) y = dropout(y.relu_(), options_.dropout, options_.index, context);
    in.main = y;
    return in;
  }

 private:
  Options options_;
  std::shared_ptr<Linear> linear_;
};

}  // namespace

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
          std::make_shared<CoderLayer>(
              CoderLayer::Options{.linear = {.inputs = sizes[i], .outputs = sizes[i + 1]},
                                  .index = index++,
                                  .is_rectified = i + 2 < sizes.size(),
                                  .dropout = config.dropout}));
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

}  // namespace trireme::model
