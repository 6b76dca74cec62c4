// Goal:   checkpoints appear and disappear atomically.
// Method: uses a folder as a Saver does, with leftovers that the test creates.

#include "trireme/checkpoint/format/folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/checkpoint/format/stored_bytes.h"
#include "trireme/base/error.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/checkpoint/format/verify.h"

namespace trireme::checkpoint::format {
namespace {

namespace fs = std::filesystem;
using ::testing::IsEmpty;

TEST(CheckpointFolder, NamesAreFormattedAndParsed) {
  EXPECT_EQ(folder_name(1234), "step-00001234");
  EXPECT_EQ(folder_name(123456789012), "step-123456789012");
  EXPECT_EQ(step_in("step-00001234"), 1234);
  EXPECT_EQ(step_in("step-123456789012"), 123456789012);
  for (const char* name : {"step-1234", "step-", "step-0000123x", "stop-00001234", "step--0000001",
                           ".step-00001234.00.draft"}) {
    EXPECT_EQ(step_in(name), std::nullopt) << name;
  }
}

TEST(CheckpointFolder, DraftsAreNotListedAndAreSwept) {
  const TemporaryFolder folder("folder");
  const fs::path draft = make_draft(folder.path(), 3, "one");
  EXPECT_EQ(make_draft(folder.path(), 3, "one"), draft);  // all writers use the same draft
  const fs::path spared = make_draft(folder.path(), 3, "two");
  EXPECT_THAT(list_checkpoints(folder.path()), IsEmpty());
  EXPECT_THAT(list_checkpoints(folder.path() / "none"), IsEmpty());
  fs::create_directory(folder.path() / ".mine.draft");
  const FolderLock lock(folder.path());
  const auto swept = sweep_drafts(lock, [](const Draft& one) { return one.tag == "two"; });
  ASSERT_EQ(swept.size(), 1u);
  EXPECT_EQ(swept[0].step, 3);
  EXPECT_EQ(swept[0].tag, "one");
  EXPECT_FALSE(fs::exists(draft));
  EXPECT_TRUE(fs::exists(spared));
  EXPECT_TRUE(fs::exists(folder.path() / ".mine.draft"));
}

TEST(CheckpointFolder, ACheckpointOfTheSameStepIsReplacedCompletely) {
  const TemporaryFolder folder("folder");
  const fs::path path = store_bytes(folder.path(), 5);
  fs::create_directory(path / "old");
  EXPECT_EQ(store_bytes(folder.path(), 5), path);
  EXPECT_FALSE(fs::exists(path / "old"));
  EXPECT_THAT(damage_in(path), IsEmpty());
  EXPECT_THAT(drafts_in(folder.path()), IsEmpty());
  remove_checkpoint(FolderLock(folder.path()), 5);
  EXPECT_FALSE(fs::exists(path));
}

}  // namespace
}  // namespace trireme::checkpoint::format
