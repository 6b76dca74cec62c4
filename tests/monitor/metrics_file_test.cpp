// Goal:   the file of a resumed job equals that of an uninterrupted one; a full disk leaves only
//         complete lines.
// Method: write files, damage them as a kill would, and open them again; limit the file size.

#include "trireme/monitor/metrics_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>

#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"

namespace trireme::monitor {
namespace {

const std::string kOne = "{\"step\":1,\"loss\":0.5}\n";
const std::string kTwo = "{\"step\":2,\"loss\":0.25}\n";

TEST(MetricsFile, IsCutBackToTheResumedStep) {
  const TemporaryFolder folder("metrics");
  const auto path = folder.path() / "metrics.jsonl";
  {
    MetricsFile file(path);
    file.write(1, {{"loss", 0.5}});
    file.write(2, {{"loss", 0.75}});
    file.write(3, {{"loss", 0.75}});
    EXPECT_FALSE(file.is_broken());
  }
  MetricsFile(path, 1).write(2, {{"loss", 0.25}});
  EXPECT_EQ(read_file(path), kOne + kTwo);
  MetricsFile(path, 5);
  EXPECT_EQ(read_file(path), kOne + kTwo);
  MetricsFile{path};
  EXPECT_EQ(read_file(path), "");
}

TEST(MetricsFile, GoesOnWithEveryStep) {
  const TemporaryFolder folder("metrics");
  const auto path = folder.path() / "events.jsonl";
  std::ofstream(path, std::ios::binary) << kTwo << kOne << "{\"step\":7";
  MetricsFile(path, MetricsFile::kEveryStep).write(1, {{"loss", 0.5}});
  EXPECT_EQ(read_file(path), kTwo + kOne + kOne);
}

// The disk is full in the middle of the second line, and has room again for the third.
TEST(MetricsFile, AFullDiskLeavesWholeLines) {
  const TemporaryFolder folder("metrics");
  const auto path = folder.path() / "metrics.jsonl";
  MetricsFile file(path);
  file.write(1, {{"loss", 0.5}});
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{.rlim_cur = kOne.size() + 9, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  file.write(2, {{"loss", 0.75}});
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_TRUE(file.is_broken());
  EXPECT_EQ(read_file(path), kOne);
  file.write(2, {{"loss", 0.25}});
  EXPECT_EQ(read_file(path), kOne + kTwo);
}

TEST(MetricsFile, AHalfWrittenLineIsCutOff) {
  const TemporaryFolder folder("metrics");
  const auto path = folder.path() / "metrics.jsonl";
  for (const std::string tail : {"{\"step\":2", "{\"step\":2,\"loss\":0.25}", "nonsense\n", "\n"}) {
    std::ofstream(path, std::ios::binary) << kOne << tail;
    MetricsFile(path, 2).write(2, {{"loss", 0.25}});
    EXPECT_EQ(read_file(path), kOne + kTwo) << tail;
  }
}

}  // namespace
}  // namespace trireme::monitor
