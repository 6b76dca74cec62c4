// Goal:   lateness alone, and only where nobody watches, is forgiven once; every other failure
//         counts, and nothing is hidden.
// Method: this binary starts itself with a test that fails as a variable says; a file that the
// first
//         run leaves tells it the second.

#include "trireme/testing/second_chance.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "trireme/base/file.h"
#include "trireme/base/temporary_folder.h"
#include "trireme/testing/command_process.h"
#include "trireme/testing/in_time.h"

namespace trireme::testing {
namespace {

using namespace std::chrono_literals;

constexpr const char* kKindVariable = "TRIREME_TEST_FAILS";
constexpr const char* kFileVariable = "TRIREME_TEST_FAILS_FILE";

bool is_pupil() {
  return std::getenv(kKindVariable) != nullptr;
}

void fail_as_told() {
  const std::string kind = std::getenv(kKindVariable);
  const std::string file = std::getenv(kFileVariable);
  const bool is_second = std::filesystem::exists(file);
  write_file_atomically(file, "was here");
  expect_in_time(1ms, 1s);
  if (kind == "always late" || (kind == "late" && !is_second)) expect_in_time(2s, 1s, "the answer");
  if (kind == "wrong" && !is_second) ADD_FAILURE() << "wrong";
  if (kind == "late and wrong" && !is_second) {
    expect_in_time(2s, 1s);
    ADD_FAILURE() << "wrong";
  }
}

struct Outcome {
  bool passed = false;
  std::string output;
};

// The running test again, as one that fails.
Outcome run(const std::string& kind, const std::string& ci) {
  const std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  const TemporaryFolder folder("second-chance-test");
  CommandProcess process({.command = {std::filesystem::read_symlink("/proc/self/exe").string(),
                                      "--gtest_filter=SecondChance." + name},
                          .environment = {{kKindVariable, kind},
                                          {kFileVariable, (folder.path() / "file").string()},
                                          {"GTEST_TOTAL_SHARDS", "1"},
                                          {"GTEST_SHARD_INDEX", "0"},
                                          {"TRIREME_SECOND_CHANCE_TAKEN", ""},
                                          {"CI", ci}}});
  const bool passed = process.wait_exit(Deadline::after(60s)) == 0;
  return {.passed = passed, .output = process.out() + process.error()};
}

TEST(SecondChance, LatenessIsForgivenOnceWhereNobodyWatches) {
  if (is_pupil()) return fail_as_told();
  const Outcome forgiven = run("late", "true");
  EXPECT_TRUE(forgiven.passed) << forgiven.output;
  EXPECT_NE(forgiven.output.find("TOO LATE: the answer: 2000 ms, and it has 1000 ms"),
            std::string::npos)
      << forgiven.output;
  EXPECT_NE(forgiven.output.find("SECOND CHANCE, after the failure above: SecondChance."),
            std::string::npos)
      << forgiven.output;
  EXPECT_FALSE(run("late", "").passed);
  EXPECT_FALSE(run("always late", "true").passed);
}

TEST(SecondChance, NothingElseIsForgiven) {
  if (is_pupil()) return fail_as_told();
  for (const char* kind : {"wrong", "late and wrong"}) {
    const Outcome outcome = run(kind, "true");
    EXPECT_FALSE(outcome.passed) << kind;
    EXPECT_EQ(outcome.output.find("SECOND CHANCE"), std::string::npos) << outcome.output;
  }
}

}  // namespace
}  // namespace trireme::testing
