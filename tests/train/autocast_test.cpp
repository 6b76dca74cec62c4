// Goal:   computing activations again changes nothing, in 16 bits as in 32: no step runs on what
//         was cast of an earlier step's weights, and a resumed job goes on alike.
// Method: a tiny gpt trained with and without recomputation, and by jobs that begin where another
//         stopped, bit for bit.

#include "trireme/device/torch/autocast.h"
#include "trireme/train/module_precision.h"

#include <ATen/autocast_mode.h>

#include "tests/train/tiny_job.h"

namespace trireme::train {
namespace {

Words recomputed(const std::string& precision, const std::string& is_on) {
  return {"train.precision=" + precision, "model.activation_checkpointing=" + is_on,
          "optim.lr=0.1"};
}

TEST(RecomputedAutocast, EqualsWithout) {
  for (const char* precision : {"fp32", "bf16", "fp16"}) {
    const Trained plain = train_threads(tiny_config("gpt", recomputed(precision, "false")), 1, 5);
    const Trained again = train_threads(tiny_config("gpt", recomputed(precision, "true")), 1, 5);
    EXPECT_EQ(plain.losses, again.losses) << precision;
    expect_same_bits(plain, again, precision);
  }
}

// A job that begins with the weights of another has no casts of older ones.
TEST(RecomputedAutocast, EachStepRunsOnTheWeightsOfTheOneBefore) {
  at::set_num_threads(1);
  const config::Config config = tiny_config("gpt", recomputed("bf16", "true"));
  Job job = open_job(config, tiny_kinds());
  std::vector<Weights> before;
  std::vector<data::Position> positions;
  std::vector<double> losses;
  for (int step = 0; step < 5; ++step) {
    before.push_back(weights_of(*job.model));
    positions.push_back(job.loader().position());
    losses.push_back(job.step->run(step).loss);
  }
  for (int step = 0; step < 5; ++step) {
    const auto index = static_cast<std::size_t>(step);
    Job fresh = open_job(config, tiny_kinds());
    {
      const torch::NoGradGuard no_grad;
      for (auto& item : fresh.model->named_parameters()) {
        item.value().copy_(before[index].at(item.key()));
      }
    }
    fresh.loader().seek(positions[index]);
    EXPECT_EQ(fresh.step->run(step).loss, losses[index]) << "step " << step;
  }
}

TEST(RecomputedAutocast, CastsThatOthersLeftBehindAreForgotten) {
  const at::Tensor weight = torch::ones({2, 2}).requires_grad_();
  const at::Tensor x = torch::ones({2, 2});
  at::autocast::set_autocast_enabled(at::kCPU, true);
  at::matmul(x, weight);
  at::autocast::set_autocast_enabled(at::kCPU, false);
  {
    const torch::NoGradGuard no_grad;
    weight.fill_(3);
  }
  const Autocast precision(at::kCPU, at::kBFloat16);
  EXPECT_EQ(at::matmul(x, weight)[0][0].item<float>(), 6);
}

}  // namespace
}  // namespace trireme::train
