#include "bench/train/rank/workload.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>

#include "trireme/base/error.h"
#include "trireme/data/memory/tensor_source.h"

namespace trireme::bench {
namespace {

struct RandomConfig {
  static void describe(config::Fields<RandomConfig>&) {}
};

Workload images(std::vector<std::string> settings) {
  return {.unit = "images", .settings = std::move(settings), .input_sizes = {1, 28, 28}};
}

Workload texts(const GptSizes& sizes) {
  return {.unit = "tokens",
          .batch = sizes.batch,
          .settings = {"model.kind=gpt", "model.hidden_size=" + std::to_string(sizes.width),
                       "model.num_layers=" + std::to_string(sizes.layers),
                       "model.num_heads=" + std::to_string(sizes.heads)},
          .input_sizes = {sizes.context},
          .classes = sizes.vocabulary};
}

Workload model_named(const std::string& name) {
  if (name == "cnn") return images({"model.kind=cnn"});
  if (name == "mlp") return images({"model.kind=mlp", "model.hidden_sizes=[2048, 2048, 2048]"});
  if (name == "gpt-nano") return texts({65, 64, 128, 4, 4, 12});
  if (name == "gpt-mini") return texts({65, 256, 384, 6, 6, 4});
  if (name == "gpt-wide") return texts({8192, 128, 768, 4, 12, 2});
  throw Error(ErrorCode::InvalidInput, "no workload is called " + name);
}

data::Sets random_sets(const Workload& workload, std::int64_t count) {
  auto generator = at::make_generator<at::CPUGeneratorImpl>(/*seed=*/0);
  std::vector<std::int64_t> sizes{count};
  const std::vector<std::int64_t> labels = sizes;
  sizes.insert(sizes.end(), workload.input_sizes.begin(), workload.input_sizes.end());
  const auto draw = [&](const std::vector<std::int64_t>& of) {
    return at::randint(workload.classes, of, generator, at::kLong);
  };
  const at::Tensor x = workload.is_text() ? draw(sizes) : at::randn(sizes, generator, at::kFloat);
  const at::Tensor y = draw(workload.is_text() ? sizes : labels);
  return {std::make_shared<data::memory::TensorSource>(
              x, y, data::memory::TensorSource::Options{.classes = workload.classes}),
          nullptr};
}

Workload with_random_data(Workload workload) {
  workload.settings.insert(workload.settings.end(), {"data.kind=random", "data.shuffle=false",
                                                     "data.num_workers=0", "optim.kind=adamw"});
  return workload;
}

}  // namespace

Workload workload_named(const std::string& name) {
  return with_random_data(model_named(name));
}

Workload text_workload(const GptSizes& sizes) {
  return with_random_data(texts(sizes));
}

trireme::train::Kinds kinds_for(const Workload& workload, int ranks) {
  trireme::train::Kinds kinds = trireme::train::built_in_kinds();
  kinds.data.add<RandomConfig>("random", "random numbers", [=](const RandomConfig&) {
    return random_sets(workload, workload.batch * ranks);
  });
  return kinds;
}

}  // namespace trireme::bench
