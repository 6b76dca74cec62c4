// Goal:   the loss of a worker is measured until its replacement trains.
// Method: the real programs with two workers, of which one is killed.

#include "bench/recovery/measure.h"

#include <gtest/gtest.h>

#include "tests/folders.h"
#include "trireme/base/file/temporary_folder.h"

namespace trireme::bench::recovery {
namespace {

TEST(RecoveryMeasure, TimesALossAndItsReplacement) {
  if (!std::filesystem::exists(build_folder() + "/trireme-worker")) {
    GTEST_SKIP() << "SKIPPED: this build has no torch";
  }
  const TemporaryFolder folder("recovery-measure");
  const RecoveryTimes measured = measure({.incident = Incident::Kill,
                                          .sync = "shared",
                                          .workers = 2,
                                          .times = 1,
                                          .folder = folder.path() / "measured",
                                          .program = build_folder() + "/trireme"});
  ASSERT_EQ(measured.lost.size(), 1u);
  ASSERT_EQ(measured.replacement.size(), 1u);
  EXPECT_GT(measured.replacement[0], 0);
}

}  // namespace
}  // namespace trireme::bench::recovery
