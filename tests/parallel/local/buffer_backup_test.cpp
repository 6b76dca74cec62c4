// Goal:   buffers return to their values when the step began; before any step nothing changes.
// Method: one buffer.

#include "trireme/parallel/local/buffer_backup.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace trireme::parallel::local {
namespace {

TEST(BufferBackup, ReturnsToTheBeginningOfTheStep) {
  const at::Tensor buffer = torch::ones({2});
  BufferBackup backup({buffer});
  backup.put_back();
  backup.keep();
  buffer.fill_(7);
  backup.put_back();
  EXPECT_EQ(buffer.sum().item<float>(), 2);
}

}  // namespace
}  // namespace trireme::parallel::local
