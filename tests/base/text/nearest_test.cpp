// Goal:   a misspelt name leads to the intended one, and an unrelated one leads to none.
// Method: known pairs; distances of short words compared with hand counts.

#include "trireme/base/text/nearest.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace trireme {
namespace {

TEST(EditDistance, CountsEachKindOfEdit) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("run", "run"), 0u);
  EXPECT_EQ(edit_distance("run", "rn"), 1u);
  EXPECT_EQ(edit_distance("run", "runs"), 1u);
  EXPECT_EQ(edit_distance("run", "rum"), 1u);
  EXPECT_EQ(edit_distance("run", "rnu"), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(EditDistance, IsSymmetric) {
  const std::vector<std::string> words{"", "a", "ab", "ba", "jobs", "josb", "version", "verison"};
  for (const auto& a : words) {
    for (const auto& b : words) EXPECT_EQ(edit_distance(a, b), edit_distance(b, a)) << a << b;
  }
}

TEST(Nearest, FindsTheIntendedName) {
  const std::vector<std::string> commands{"run", "jobs", "stop", "watch", "version"};
  EXPECT_EQ(nearest("rnu", commands), "run");
  EXPECT_EQ(nearest("job", commands), "jobs");
  EXPECT_EQ(nearest("verison", commands), "version");
  EXPECT_EQ(nearest("wach", commands), "watch");
}

TEST(Nearest, FindsNothingIfNoNameIsClose) {
  const std::vector<std::string> commands{"run", "jobs", "stop", "watch", "version"};
  EXPECT_EQ(nearest("elephant", commands), std::nullopt);
  EXPECT_EQ(nearest("", commands), std::nullopt);
  EXPECT_EQ(nearest("x", std::vector<std::string>{"y"}), std::nullopt);
  EXPECT_EQ(nearest("run", {}), std::nullopt);
}

TEST(Nearest, FindsShorterAndLongerNames) {
  const std::vector<std::string> sections{"model", "optim", "schedule"};
  EXPECT_EQ(nearest("optimizer", sections), "optim");
  EXPECT_EQ(nearest("sche", sections), "schedule");
  EXPECT_EQ(nearest("mod", sections), std::nullopt);
  EXPECT_EQ(nearest("operator", sections), std::nullopt);
}

TEST(Nearest, FindsNamesByTheirInitials) {
  const std::vector<std::string> settings{"loss", "learning_rate", "weight_decay"};
  EXPECT_EQ(nearest("lr", settings), "learning_rate");
  EXPECT_EQ(nearest("wd", settings), "weight_decay");
  EXPECT_EQ(nearest("l", settings), std::nullopt);
}

TEST(Nearest, PrefersTheFirstOfEquals) {
  EXPECT_EQ(nearest("cat", std::vector<std::string>{"bat", "hat"}), "bat");
}

}  // namespace
}  // namespace trireme
