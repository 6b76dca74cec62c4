// Goal:   the text of a device is PyTorch's, and no other text names one; missing kernels are
// named. Method: texts at the boundaries of the format, there and back.

#include "trireme/device/device.h"

#include <gtest/gtest.h>

#include "trireme/base/error.h"
#include "trireme/device/cuda/missing.h"

namespace trireme {
namespace {

TEST(Device, HasTheTextThatPyTorchUses) {
  EXPECT_EQ(name_of(Device{}), "cpu");
  EXPECT_EQ(name_of(Device::cuda(0)), "cuda:0");
  EXPECT_EQ(name_of(Device::cuda(11)), "cuda:11");
}

TEST(Device, IsFoundInItsText) {
  for (const Device device : {Device{}, Device::cuda(0), Device::cuda(7), Device::cuda(65535)}) {
    EXPECT_EQ(device_in(name_of(device)), device);
  }
  EXPECT_EQ(device_in("cuda"), Device::cuda(0)) << "without an index, the first GPU";
}

TEST(Device, OtherTextsNameNone) {
  for (const char* text : {"", "CPU", "cpu:0", "cuda:", "cuda:-1", "cuda:x", "cuda:1 ", "cuda1",
                           "cuda:65536", "gpu", "auto"}) {
    EXPECT_EQ(device_in(text), std::nullopt) << text;
  }
}

TEST(Device, AKernelThatIsMissingIsNamedWithARemedy) {
  try {
    cuda::throw_missing("dropout");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Unsupported);
    EXPECT_NE(error.message().find("dropout"), std::string::npos) << error.message();
    EXPECT_NE(error.message().find("train.device=cpu"), std::string::npos) << error.message();
  }
}

}  // namespace
}  // namespace trireme
