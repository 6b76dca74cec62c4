#include "trireme/model/embedding.h"

#include <ATen/ops/embedding.h>
#include <ATen/ops/zeros.h>

#include "trireme/base/check.h"

namespace trireme::model {

Embedding::Embedding(const Options& options) : torch::nn::Module("Embedding") {
  TRIREME_CHECK(options.rows > 0 && options.width > 0, "a table of ", options.rows, " x ",
                options.width);
  weight = register_parameter("weight", at::zeros({options.rows, options.width}));
}

at::Tensor Embedding::forward(const at::Tensor& tokens, const Context& context) const {
  if (strategy) return strategy->forward(*this, tokens, context);
  return at::embedding(weight, tokens);
}

}  // namespace trireme::model
