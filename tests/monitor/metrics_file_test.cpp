// Goal:   a resumed job's file reads as that of an undisturbed one.
// Method: files written, spoiled as a kill would, and opened again.

#include "trireme/monitor/metrics_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "trireme/base/file.h"
#include "trireme/base/temporary_folder.h"

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
