// Goal:   frozen parameters and buffers are equal on all ranks, and are restored by a resume.
// Method: a net with a frozen scale and a boolean buffer that differ each time it is created; two
//         ranks as threads, then resumed on one.

#include <torch/torch.h>

#include <atomic>

#include "tests/train/tiny_job.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/model/wrap.h"
#include "trireme/train/trainer.h"

namespace trireme::train {
namespace {

struct FrozenNet : torch::nn::Module {
  explicit FrozenNet(std::int64_t inputs) {
    static std::atomic<int> made = 0;
    const int number = ++made;
    layer = register_module("layer", torch::nn::Linear(inputs, 5));
    scale = register_parameter("scale", torch::full({1}, 1.0 + number), false);
    mask = register_buffer("mask", torch::full({2}, number % 2 == 0, torch::kBool));
  }
  at::Tensor forward(const at::Tensor& x) { return layer(x.flatten(1)) * scale; }

  torch::nn::Linear layer{nullptr};
  at::Tensor scale, mask;
};

struct NoSettings {
  static void describe(config::Fields<NoSettings>&) {}
};

Kinds frozen_kinds() {
  Kinds kinds = tiny_kinds();
  kinds.models.add<NoSettings>("frozen", "", [](const auto&, const model::Facts& facts) {
    return model::wrap(
        std::make_shared<FrozenNet>(facts.form.input_count()),
        [](FrozenNet& net, const at::Tensor& x, const model::Context&) { return net.forward(x); });
  });
  return kinds;
}

struct Untrained {
  float scale;
  bool mask;
  friend bool operator==(const Untrained&, const Untrained&) = default;
};

Untrained untrained_of_job(const Job& job) {
  const auto parameters = job.model->named_parameters();
  const auto buffers = job.model->named_buffers();
  Untrained found{};
  for (const auto& item : parameters) {
    if (item.key().ends_with("scale")) found.scale = item.value().item<float>();
  }
  for (const auto& item : buffers) found.mask = item.value()[0].item<bool>();
  return found;
}

TEST(Frozen, IsTheSameEverywhereAndComesBack) {
  at::set_num_threads(1);
  const TemporaryFolder folder("frozen");
  const Kinds kinds = frozen_kinds();
  const auto config_of = [&](const char* steps) {
    // Of no built-in family, the recipe has data as it says here.
    const Words words{steps, "data.task=classification", "data.sizes=[6]"};
    return tiny_config("frozen", words, kinds);
  };
  const auto groups = comm::connect_threads(2);
  std::vector<Untrained> found(2);
  const config::Config config = config_of("train.steps=3");
  testing::run_rank_threads(2, [&](int rank) {
    const auto r = static_cast<std::size_t>(rank);
    Job job = open_job(config, kinds, groups[r]);
    Reporter reporter(Reporter::Options{});
    Trainer trainer(job, {.output = folder.path(), .reporter = &reporter});
    trainer.run();
    found[r] = untrained_of_job(job);
    job.group.barrier().wait();
  });
  EXPECT_EQ(found[0], found[1]);
  const config::Config more = config_of("train.steps=4");
  Job job = open_job(more, kinds);
  EXPECT_NE(untrained_of_job(job), found[0]) << "another net was made";
  Reporter reporter(Reporter::Options{});
  Trainer(job, {.output = folder.path(), .is_resumed = true, .reporter = &reporter}).run();
  EXPECT_EQ(untrained_of_job(job), found[0]);
}

}  // namespace
}  // namespace trireme::train
