// Goal:   damaged and missing checkpoints are reported and never read silently.
// Method: truncates a checkpoint of a real state and requests contents that it does not have.

#include "trireme/checkpoint/checkpoint.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "trireme/base/error.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/checkpoint/saver.h"

namespace trireme::checkpoint {
namespace {

TEST(Checkpoint, OpensTheCompleteCheckpointAndNamesTheDamagedOne) {
  const TemporaryFolder folder("checkpoint");
  State state;
  state.add("w", torch::ones({100}));
  {
    Saver saver({.folder = folder.path()});
    saver.save(state, 1);
    saver.save(state, 2);
    saver.wait();
  }
  std::filesystem::resize_file(folder.path() / "step-00000002" / "part-00000.safetensors", 100);
  const auto newest = Checkpoint::newest_whole(folder.path());
  ASSERT_TRUE(newest.checkpoint.has_value());
  EXPECT_EQ(newest.checkpoint->step(), 1);
  EXPECT_TRUE(newest.checkpoint->has("w"));
  EXPECT_FALSE(newest.checkpoint->has("v"));
  EXPECT_EQ(newest.checkpoint->scalar_type("w"), at::kFloat);
  EXPECT_THROW(newest.checkpoint->read("v"), Error);
  ASSERT_EQ(newest.skipped.size(), 1u);
  EXPECT_EQ(newest.skipped[0].path, folder.path() / "step-00000002");
  EXPECT_THROW(Checkpoint::open(folder.path() / "step-00000003"), Error);
}

TEST(Checkpoint, AFolderWithoutCheckpointsHasNone) {
  const TemporaryFolder folder("checkpoint");
  EXPECT_FALSE(Checkpoint::newest_whole(folder.path() / "none").checkpoint.has_value());
}

}  // namespace
}  // namespace trireme::checkpoint
