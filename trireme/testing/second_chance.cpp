#include "trireme/testing/second_chance.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "trireme/testing/in_time.h"

namespace trireme::testing {
namespace {

constexpr const char* kTakenVariable = "TRIREME_SECOND_CHANCE_TAKEN";

bool has_second_chance() {
  const char* const ci = std::getenv("CI");
  return ci != nullptr && *ci != '\0' && std::getenv(kTakenVariable) == nullptr;
}

bool was_only_late(const ::testing::TestResult& result) {
  for (int i = 0; i < result.total_part_count(); ++i) {
    const ::testing::TestPartResult& part = result.GetTestPartResult(i);
    if (part.failed() && std::string_view(part.message()).find(kTooLate) == std::string_view::npos)
      return false;
  }
  return true;
}

// The failed tests as a filter; empty when one of them may not be run again.
std::string late_tests(const ::testing::UnitTest& all) {
  std::string filter;
  if (!was_only_late(all.ad_hoc_test_result())) return {};
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const ::testing::TestSuite& suite = *all.GetTestSuite(i);
    if (!was_only_late(suite.ad_hoc_test_result())) return {};
    for (int k = 0; k < suite.total_test_count(); ++k) {
      const ::testing::TestInfo& test = *suite.GetTestInfo(k);
      if (!test.should_run() || test.result()->Passed() || test.result()->Skipped()) continue;
      if (!was_only_late(*test.result())) return {};
      filter += (filter.empty() ? "" : ":") + std::string(suite.name()) + "." + test.name();
    }
  }
  return filter;
}

// The same program anew, so that nothing of the first run is left in it.
void start_again(char** argv, const std::string& filter) {
  std::fprintf(stderr, "SECOND CHANCE, after the failure above: %s\n", filter.c_str());
  ::setenv(kTakenVariable, "1", 1);
  ::unsetenv("GTEST_TOTAL_SHARDS");
  ::unsetenv("GTEST_SHARD_INDEX");
  std::string option = "--gtest_filter=" + filter;
  std::vector<char*> words{argv[0], option.data(), nullptr};
  std::fflush(nullptr);
  ::execv("/proc/self/exe", words.data());
  std::perror("cannot start again");
}

}  // namespace

int run_tests(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  const int result = RUN_ALL_TESTS();
  if (result != 0 && has_second_chance()) {
    const std::string filter = late_tests(*::testing::UnitTest::GetInstance());
    if (!filter.empty()) start_again(argv, filter);
  }
  return result;
}

}  // namespace trireme::testing
