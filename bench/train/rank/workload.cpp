#include "bench/train/rank/workload.h"

#include "trireme/base/error.h"

namespace trireme::bench {
namespace {

Workload images(std::vector<std::string> settings) {
  return {.unit = "images",
          .settings = std::move(settings),
          .form = {.input_sizes = {1, 28, 28}, .classes = 10}};
}

struct GptSizes {
  std::int64_t vocabulary, context, width, layers, heads, batch;
};

Workload texts(const GptSizes& sizes) {
  return {.unit = "tokens",
          .units_a_sample = sizes.context,
          .batch = sizes.batch,
          .settings = {"model.kind=gpt", "model.hidden_size=" + std::to_string(sizes.width),
                       "model.num_layers=" + std::to_string(sizes.layers),
                       "model.num_heads=" + std::to_string(sizes.heads)},
          .form = {.input_sizes = {sizes.context},
                   .input_type = at::kLong,
                   .target_sizes = {sizes.context},
                   .classes = sizes.vocabulary}};
}

}  // namespace

Workload workload_named(const std::string& name) {
  if (name == "cnn") return images({"model.kind=cnn"});
  if (name == "mlp") return images({"model.kind=mlp", "model.hidden_sizes=[2048, 2048, 2048]"});
  if (name == "gpt-nano") return texts({65, 64, 128, 4, 4, 12});
  if (name == "gpt-mini") return texts({65, 256, 384, 6, 6, 4});
  if (name == "gpt-wide") return texts({8192, 128, 768, 4, 12, 2});
  throw Error(ErrorCode::InvalidInput, "no workload is called " + name);
}

}  // namespace trireme::bench
