#include "trireme/model/layer/embedding.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/model/layer/gradient_buffers.h"
#include "trireme/model/layer/key_value_cache.h"
#include "trireme/model/without_memory.h"

namespace trireme::model {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// at::embedding that adds the gradient of its table directly to its final memory. If a tied head
// has already written its part there, no intermediate table of zeros is needed.
struct HomedEmbedding : torch::autograd::Function<HomedEmbedding> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& table, const at::Tensor& tokens,
                            c10::intrusive_ptr<HomesHolder> homes) {
    ctx->save_for_backward({table, tokens});
    ctx->saved_data["homes"] = c10::IValue::make_capsule(homes);
    return at::embedding(table, tokens);
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& gradients) {
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor &table = saved[0], &tokens = saved[1];
    const auto holder = ctx->saved_data["homes"].toCapsule();
    GradientBuffers& homes = *static_cast<HomesHolder&>(*holder).homes;
    if (!ctx->needs_input_grad(0)) return variable_list(3);
    const at::Tensor rows = tokens.flatten();
    const at::Tensor values = gradients[0].reshape({-1, table.size(1)});
    if (!is_accumulating()) return {at::zeros_like(table).index_add(0, rows, values), {}, {}};
    if (homes.add_rows(table, rows, values)) return variable_list(3);
    at::Tensor sum = homes.lend(table);
    if (!sum.defined()) sum = at::empty_like(table);
    sum.zero_().index_add_(0, rows, values);
    return {sum, {}, {}};
  }
};

}  // namespace

Embedding::Embedding(const Options& options) : torch::nn::Module("Embedding") {
  TRIREME_CHECK(options.rows > 0 && options.width > 0, "a table of ", options.rows, " x ",
                options.width);
  weight = register_parameter("weight", zero_parameter({options.rows, options.width}));
}

at::Tensor Embedding::compute(const at::Tensor& tokens, const Context& context) const {
  if (const auto homes = homes_for(weight, context)) {
    return HomedEmbedding::apply(weight, tokens, homes);
  }
  return at::embedding(weight, tokens);
}

at::Tensor positions_of(const at::Tensor& tokens, const Context& context,
                        std::int64_t context_max) {
  const std::int64_t begin = context.cache ? context.cache->length() : 0;
  const std::int64_t end = begin + tokens.size(1);
  if (end > context_max) {
    throw Error(ErrorCode::InvalidInput, "a text of " + std::to_string(end) +
                                             " tokens is longer than the model's context of " +
                                             std::to_string(context_max));
  }
  return context.positions.defined() ? context.positions : at::arange(begin, end, tokens.options());
}

}  // namespace trireme::model
