// Goal:   a field sets and gets its member by its rules, and leaves it unchanged if a rule is
//         violated.
// Method: one struct with fields that use every declaration option.

#include "trireme/base/config/field.h"

#include <gtest/gtest.h>

#include "trireme/base/error.h"

namespace trireme::config {
namespace {

struct Sample {
  int ranks = 1;
  std::string name = "x";
};

TEST(ConfigField, SetsAndGetsItsMember) {
  MemberField<Sample, int> field("ranks", &Sample::ranks);
  field.range(1, 8).unit("processes").help("how many");
  const Field& erased = field;
  Sample sample;
  EXPECT_EQ(erased.get(&sample), Value{std::int64_t{1}});
  erased.set(&sample, {std::int64_t{8}});
  EXPECT_EQ(sample.ranks, 8);
  EXPECT_THROW(erased.set(&sample, {std::int64_t{9}}), Error);
  EXPECT_EQ(sample.ranks, 8) << "a refused value leaves the member as it was";
}

TEST(ConfigField, ReportsItsDeclaration) {
  MemberField<Sample, int> field("ranks", &Sample::ranks);
  field.at_least(1).at_most(8).unit("processes").help("how many");
  const Field& erased = field;
  EXPECT_EQ(erased.name(), "ranks");
  EXPECT_EQ(erased.type(), "integer");
  EXPECT_EQ(erased.range(), "1 to 8");
  EXPECT_EQ(erased.unit(), "processes");
  EXPECT_EQ(erased.help(), "how many");
  EXPECT_FALSE(erased.shape().is_text);
}

TEST(ConfigField, ChecksItsOwnCondition) {
  MemberField<Sample, std::string> field("name", &Sample::name);
  field.check([](const std::string& name) { return name == "root" ? "is taken" : ""; });
  Sample sample;
  field.set(&sample, {std::string("toor")});
  EXPECT_EQ(sample.name, "toor");
  try {
    field.set(&sample, {std::string("root")});
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.message(), "\"root\" is taken");
  }
}

}  // namespace
}  // namespace trireme::config
