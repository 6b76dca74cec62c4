// Goal:   kernels of a GPU give the same bits as those of the CPU.
// Method: the same input on both, at sizes around a block and a vector; skipped without a GPU.

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <limits>

#include "trireme/device/torch/torch_device.h"
#include "trireme/model/layer/dropout.h"
#include "trireme/optim/clip.h"
#include "trireme/optim/rule/adagrad.h"
#include "trireme/optim/rule/adam.h"
#include "trireme/optim/rule/lion.h"
#include "trireme/optim/rule/rmsprop.h"
#include "trireme/optim/rule/sgd.h"

namespace trireme {
namespace {

constexpr std::int64_t kSizes[] = {0, 1, 31, 257, 100003};

class GpuKernels : public ::testing::Test {
 protected:
  void SetUp() override {
    if (gpu_count() == 0) GTEST_SKIP() << "this machine or this PyTorch has no GPU";
  }
};

// Three updates of random values on a device.
at::Tensor updated(const optim::Optimizer& rule, std::int64_t size, at::Device device) {
  torch::manual_seed(size);
  optim::Slice slice{.value = torch::randn({size}).to(device),
                     .gradient = torch::randn({size}).to(device),
                     .state = {},
                     .learning_rate = 0.01,
                     .weight_decay = 0.1};
  for (std::size_t i = 0; i < rule.state_names().size(); ++i) {
    slice.state.push_back(torch::zeros({size}).to(device));
  }
  for (int step = 1; step <= 3; ++step) rule.update({&slice, 1}, step, 0.7);
  return slice.value.cpu();
}

TEST_F(GpuKernels, UpdateAsTheCpuDoes) {
  const std::vector<std::shared_ptr<optim::Optimizer>> rules{
      std::make_shared<optim::Adam>(optim::AdamwConfig{}),
      std::make_shared<optim::Adam>(optim::AdamConfig{}),
      std::make_shared<optim::Sgd>(optim::SgdConfig{.momentum = 0}),
      std::make_shared<optim::Sgd>(optim::SgdConfig{.momentum = 0.9, .nesterov = true}),
      std::make_shared<optim::Adagrad>(optim::AdagradConfig{}),
      std::make_shared<optim::Lion>(optim::LionConfig{}),
      std::make_shared<optim::Rmsprop>(optim::RmspropConfig{}),
      std::make_shared<optim::Rmsprop>(optim::RmspropConfig{.momentum = 0.9, .centered = true})};
  for (std::size_t i = 0; i < rules.size(); ++i) {
    for (const std::int64_t size : kSizes) {
      EXPECT_TRUE(updated(*rules[i], size, at::kCUDA).equal(updated(*rules[i], size, at::kCPU)))
          << "rule " << i << ", " << size << " elements";
    }
  }
}

// More slices than one launch takes, with different rates, some of them empty.
TEST_F(GpuKernels, UpdateManySlicesAsTheCpuDoes) {
  const optim::Adam adam{optim::AdamwConfig{}};
  const auto updated_all = [&](at::Device device) {
    torch::manual_seed(3);
    std::vector<optim::Slice> slices;
    std::vector<at::Tensor> values;
    for (int i = 0; i < 131; ++i) {
      const std::int64_t size = i == 77 ? 100003 : kSizes[i % 4];
      const auto type = i % 50 == 49 ? at::kDouble : at::kFloat;
      const auto zeros = [&] { return torch::zeros({size}, type).to(device); };
      slices.push_back({.value = torch::randn({size}, type).to(device),
                        .gradient = torch::randn({size}, type).to(device),
                        .state = {zeros(), zeros()},
                        .learning_rate = 1e-3 * i,
                        .weight_decay = i % 3 * 0.1});
    }
    adam.update(slices, 1, 0.7);
    for (const optim::Slice& slice : slices) values.push_back(slice.value.cpu());
    return values;
  };
  const std::vector<at::Tensor> expected = updated_all(at::kCPU), got = updated_all(at::kCUDA);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_TRUE(got[i].equal(expected[i])) << "slice " << i;
  }
}

TEST_F(GpuKernels, SumTheSquaresOfManyTensorsInDoublePrecision) {
  std::vector<at::Tensor> on_cpu, on_gpu;
  for (const std::int64_t size : kSizes) {
    on_cpu.push_back(1e-3 * torch::randn({size}));
    on_gpu.push_back(on_cpu.back().cuda());
  }
  const double expected = optim::squared_norm(on_cpu);
  EXPECT_NEAR(optim::squared_norm(on_gpu), expected, 1e-10 * expected);
  on_gpu[1][0] = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(std::isfinite(optim::squared_norm(on_gpu)));
}

TEST_F(GpuKernels, DropTheSameElementsAsTheCpu) {
  const model::Context context{.is_training = true,
                               .seed = 7,
                               .step = std::int64_t{1} << 33,
                               .places = torch::tensor({9, 2, 70000})};
  for (const auto type : {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16}) {
    for (const std::int64_t size : {1, 15, 16, 127, 128, 129, 5000}) {
      const at::Tensor x = torch::randn({3, size}).to(type);
      const at::Tensor expected = model::dropout(x, 0.3, 2, context);
      EXPECT_TRUE(model::dropout(x.cuda(), 0.3, 2, context).cpu().equal(expected))
          << c10::toString(type) << ", " << size << " elements";
    }
  }
}

}  // namespace
}  // namespace trireme
