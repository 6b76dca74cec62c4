// Goal:   a job's name is safe as a folder's name and easy to type.
// Method: valid and invalid names; many generated ones.

#include "trireme/cluster/launch/job/name.h"

#include <gtest/gtest.h>

#include <set>

namespace trireme::cluster::launch::job {
namespace {

TEST(JobName, AcceptsValidNames) {
  const std::string longest(40, 'x');
  for (const std::string& name : {std::string("a"), std::string("run-7.B_c"), longest}) {
    EXPECT_EQ(mistake_in_name(name), "") << name;
  }
}

TEST(JobName, RefusesInvalidNames) {
  for (const char* name : {"", ".", "..", "../x", "a/b", "-n", "_x", ".hidden", "two words", "a\n",
                           "ümlaut", "x1234567890123456789012345678901234567890"}) {
    EXPECT_NE(mistake_in_name(name), "") << name;
  }
  EXPECT_NE(mistake_in_name(std::string_view("a\0b", 3)), "");
}

TEST(JobName, GeneratedNamesAreValidAndDiffer) {
  std::set<std::string> names;
  for (int attempt = 0; attempt < 40; ++attempt) {
    const std::string name = make_name(attempt);
    EXPECT_EQ(mistake_in_name(name), "") << name;
    EXPECT_LE(name.size(), 24u);
    names.insert(name);
  }
  EXPECT_GT(names.size(), 20u);
}

}  // namespace
}  // namespace trireme::cluster::launch::job
