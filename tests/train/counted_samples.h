// A job that shows which samples counted: sample i is its own number, and the model has one weight
// per sample, which moves by one over the number of samples of the step that runs it.

#pragma once

#include "tests/train/more_words.h"
#include "tests/train/tiny_job.h"

namespace trireme::train {

// All targets are 1.
class NumberSource final : public data::Source {
 public:
  explicit NumberSource(std::int64_t count) : count_(count) {
    form_.input_sizes = {1};
    form_.target_type = at::kFloat;
  }
  std::int64_t count() const override { return count_; }
  const data::Form& form() const override { return form_; }
  void read(std::int64_t sample, const data::SampleKey&, void* input, void* target) const override {
    *static_cast<float*>(input) = static_cast<float>(sample);
    *static_cast<float*>(target) = 1;
  }

 private:
  std::int64_t count_;
  data::Form form_;
};

struct WeightOfEach : torch::nn::Module {
  explicit WeightOfEach(std::int64_t count) {
    weight = register_parameter("weight", torch::zeros({count}));
    passes = register_buffer("passes", torch::zeros({1}));
  }
  at::Tensor weight;
  at::Tensor passes;  // that were made, as batch norm counts them
};

inline Kinds counting_kinds(std::int64_t count = 37) {
  Kinds kinds = tiny_kinds();
  kinds.data.add<data::memory::SyntheticConfig>("numbers", "", [](const auto& config) {
    return data::Sets{std::make_shared<NumberSource>(config.count), nullptr};
  });
  kinds.models.add<model::MlpConfig>("counts", "", [count](const auto&, const model::Facts&) {
    return model::wrap(std::make_shared<WeightOfEach>(count),
                       [](WeightOfEach& net, const at::Tensor& x, const model::Context&) {
                         net.passes.add_(1);
                         return net.weight.index_select(0, x.view({-1}).to(at::kLong));
                       });
  });
  return kinds;
}

inline config::Config counting(const Words& more) {
  return config::read_config(
      recipe_schema(counting_kinds()),
      {.files = {{"counting.toml",
                  "[model]\nkind = \"counts\"\n[data]\nkind = \"numbers\"\ncount = 37\n[train]\n"
                  "global_batch_size = 10\nnum_threads = 1\n[optim]\nkind = \"sgd\"\nmomentum = 0\n"
                  "lr = 0.5\nweight_decay = 0\n[sync]\nkind = \"all_reduce\"\n"
                  "[eval]\nmetric = \"loss\"\n"}},
       .overrides = more});
}

}  // namespace trireme::train
