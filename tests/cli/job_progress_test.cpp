// Goal:   the last training line is found in metrics.jsonl, whatever follows it.
// Method: handmade files.

#include "trireme/cli/job_progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"

namespace trireme::cli {
namespace {

using ::testing::HasSubstr;

TEST(JobProgress, IsTheLastCompleteTrainingLine) {
  const TemporaryFolder folder("job-progress");
  EXPECT_FALSE(JobProgress::latest(folder.path()));
  EXPECT_FALSE(JobProgress::latest({}));
  const auto file = folder.path() / "metrics.jsonl";
  write_file_atomically(file, "");
  EXPECT_FALSE(JobProgress::latest(folder.path()));
  write_file_atomically(file,
                        "{\"step\":1,\"loss\":2.5,\"samples_per_second\":10.0}\n"
                        "{\"step\":2,\"loss\":1.5,\"tokens_per_second\":1200.0}\n"
                        "{\"step\":2,\"eval_loss\":9.0}\n"
                        "{\"step\":3,\"loss\":1.2");
  const auto found = JobProgress::latest(folder.path());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->step, 2);
  EXPECT_EQ(found->loss, 1.5);
  EXPECT_EQ(found->speed, 1200);
  EXPECT_EQ(found->unit, "tokens");
  EXPECT_THAT(found->to_json(), HasSubstr("\"event\":\"progress\",\"step\":2,\"loss\":1.5,"
                                          "\"tokens_per_second\":1200"));
  EXPECT_THAT(found->to_json(), HasSubstr("\"output\":\"" + folder.path().string()));
}

TEST(JobProgress, DoesNotShowLinesBeforeAResume) {
  const TemporaryFolder folder("job-progress");
  const auto file = folder.path() / "metrics.jsonl";
  const std::string old = "{\"step\":7,\"loss\":2.5,\"time\":100.0}\n";
  write_file_atomically(file, old);
  EXPECT_EQ(JobProgress::latest(folder.path(), 99)->step, 7);
  EXPECT_FALSE(JobProgress::latest(folder.path(), 101));
  write_file_atomically(file, old + "{\"step\":8,\"loss\":2.5,\"time\":102.0}\n");
  EXPECT_EQ(JobProgress::latest(folder.path(), 101)->step, 8);
}

}  // namespace
}  // namespace trireme::cli
