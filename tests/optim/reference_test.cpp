// Goal:   100 steps of our rules and schedules end where torch.optim's end.
// Method: tests/optim/reference.py writes torch.optim's results for the same gradients, not fused.
//         Tolerance: 1e-5 of the largest value in float32, 1e-12 in float64 (clipped: 2e-6, since
//         the clipping scale is rounded to float32).

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <chrono>

#include "tests/folders.h"
#include "trireme/base/file.h"
#include "trireme/base/temporary_folder.h"
#include "trireme/optim/adam.h"
#include "trireme/optim/clip.h"
#include "trireme/optim/schedule.h"
#include "trireme/optim/sgd.h"
#include "trireme/testing/command_process.h"

namespace trireme::optim {
namespace {

constexpr std::int64_t kSteps = 100, kCount = 1003;

at::Tensor read(const TemporaryFolder& folder, const std::string& name,
                std::vector<std::int64_t> sizes, at::ScalarType type) {
  const std::string bytes = read_file((folder.path() / (name + ".bin")).string());
  at::Tensor tensor = torch::empty(sizes, type);
  EXPECT_EQ(bytes.size(), tensor.nbytes()) << name;
  if (bytes.size() == tensor.nbytes()) std::memcpy(tensor.data_ptr(), bytes.data(), bytes.size());
  return tensor;
}

struct Case {
  std::string name;
  std::shared_ptr<Optimizer> rule;
  Schedule::Options schedule;
  double weight_decay;
};

std::vector<Case> all_cases() {
  using Kind = Schedule::Kind;
  const Schedule::Options constant{.rate = 0.01};
  return {
      {"sgd", std::make_shared<Sgd>(SgdConfig{.momentum = 0}), constant, 0.1},
      {"momentum",
       std::make_shared<Sgd>(SgdConfig{.momentum = 0.9}),
       {.kind = Kind::Step, .rate = 0.01, .every = 30, .factor = 0.5},
       0.1},
      {"nesterov",
       std::make_shared<Sgd>(SgdConfig{.momentum = 0.9, .nesterov = true}),
       {.kind = Kind::Linear, .rate = 0.01, .steps = kSteps, .final_factor = 0.1},
       0},
      {"adam",
       std::make_shared<Adam>(AdamConfig{}),
       {.kind = Kind::Cosine, .rate = 0.01, .steps = kSteps, .final_factor = 0.1},
       0.1},
      {"adamw", std::make_shared<Adam>(AdamwConfig{.beta1 = 0.8, .beta2 = 0.95}), constant, 0.1},
      {"clipped", std::make_shared<Adam>(AdamwConfig{}), constant, 0.1},
  };
}

at::Tensor train(const Case& one, const at::Tensor& value, const at::Tensor& gradients) {
  const Schedule schedule(one.schedule);
  Slice slice{.value = value.clone(),
              .gradient = {},
              .state = {},
              .learning_rate = 0,
              .weight_decay = one.weight_decay};
  for (std::size_t i = 0; i < one.rule->state_names().size(); ++i) {
    slice.state.push_back(torch::zeros_like(value));
  }
  for (std::int64_t step = 0; step < kSteps; ++step) {
    slice.gradient = gradients[step];
    slice.learning_rate = schedule.rate(step);
    const double scale = one.name == "clipped" ? clip_by_norm({&slice, 1}, 1.0).scale : 1.0;
    one.rule->update({&slice, 1}, step + 1, scale);
  }
  return slice.value;
}

TEST(OptimReference, EndsWhereTorchsDo) {
  const TemporaryFolder folder("optim-reference");
  testing::CommandProcess python(
      {.command = {python_program(), source_folder() + "/tests/optim/reference.py",
                   folder.path().string()}});
  ASSERT_EQ(python.wait_exit(Deadline::after(std::chrono::minutes(2))), 0) << python.error();
  const at::Tensor value = read(folder, "value", {kCount}, at::kFloat);
  const at::Tensor gradients = read(folder, "gradients", {kSteps, kCount}, at::kFloat);
  for (const Case& one : all_cases()) {
    for (const at::ScalarType type : {at::kFloat, at::kDouble}) {
      const bool is_wide = type == at::kDouble;
      const at::Tensor theirs = read(folder, one.name + (is_wide ? ".double" : ""), {kCount}, type);
      const at::Tensor mine = train(one, value.to(type), gradients.to(type));
      const double tolerance = !is_wide ? 1e-5 : one.name == "clipped" ? 2e-6 : 1e-12;
      EXPECT_LE((mine - theirs).abs().max().item<double>(),
                tolerance * theirs.abs().max().item<double>())
          << one.name << (is_wide ? ", float64" : ", float32");
    }
  }
}

}  // namespace
}  // namespace trireme::optim
