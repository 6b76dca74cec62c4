// Goal:   a rank selects the device that its recipe names; a missing GPU or a PyTorch without CUDA
// is
//         refused with a remedy; random numbers of a device can be set, saved and restored.
// Method: texts of every kind, with the number of GPUs that this machine has.

#include "trireme/device/torch/torch_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "trireme/base/error.h"
#include "trireme/device/torch/random_state.h"

namespace trireme {
namespace {

TEST(TorchDevice, TheCpuNeedsNoCopies) {
  const TorchDevice cpu;
  const at::Tensor x = torch::rand({3, 4});
  EXPECT_EQ(cpu.torch(), at::Device(at::kCPU));
  EXPECT_TRUE(cpu.copy_in(x).is_same(x));
  EXPECT_FALSE(cpu.copy_in(at::Tensor()).defined());
  EXPECT_TRUE(Reading(x).wait().equal(x));
  EXPECT_TRUE(Reading().is_empty());
}

TEST(TorchDevice, AutoIsAGpuOnlyIfThereIsOne) {
  const Device chosen = choose_device("auto", 5);
  const int gpus = gpu_count();
  EXPECT_EQ(chosen, gpus == 0 ? Device{} : Device::cuda(5 % gpus)) << gpus << " GPUs";
  EXPECT_EQ(choose_device("cpu", 5), Device{});
  EXPECT_EQ(choose_device("cuda:3", 5), Device::cuda(3));
  EXPECT_THROW(choose_device("tpu", 0), Error);
}

TEST(TorchDevice, AGpuThatIsMissingIsRefusedWithARemedy) {
  try {
    const TorchDevice missing(Device::cuda(200));
    FAIL() << "GPU 200 was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), gpu_count() > 0 ? ErrorCode::NotFound : ErrorCode::Unsupported)
        << error.what();
    EXPECT_THAT(error.message(), ::testing::HasSubstr("cuda:200"));
    EXPECT_THAT(error.message(), ::testing::HasSubstr("train.device=cpu"));
  }
}

TEST(RandomState, IsRestored) {
  const TorchDevice cpu;
  cpu.seed(42);
  const at::Tensor first = torch::rand({10});
  const RandomState state = RandomState::now(cpu.torch());
  const at::Tensor second = torch::rand({10});
  EXPECT_FALSE(second.equal(first));
  state.restore();
  EXPECT_TRUE(torch::rand({10}).equal(second));
  cpu.seed(42);
  EXPECT_TRUE(torch::rand({10}).equal(first));
}

}  // namespace
}  // namespace trireme
