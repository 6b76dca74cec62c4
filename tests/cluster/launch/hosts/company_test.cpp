// Goal:   the launcher knows on which of several hosts each rank runs, what it wrote and how it
//         ended.
// Method: handwritten values; a log in a temporary folder.

#include "trireme/cluster/launch/hosts/company.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"

namespace trireme::cluster::launch::hosts {
namespace {

TEST(Company, KnowsWhoIsWhere) {
  output::Writer writer;
  Company company("", writer);
  for (int rank : {0, 1, 2}) company.add(rank, rank == 2 ? 1 : 0);
  company.set_pid(2, 17);
  EXPECT_TRUE(company.has(2, 1));
  EXPECT_FALSE(company.has(2, 0));
  EXPECT_FALSE(company.has(3, 0));
  EXPECT_EQ(company.at(0), (std::vector<int>{0, 1}));
  EXPECT_EQ(company.all(), (std::vector<int>{0, 1, 2}));
  company.set_adrift(2, true);
  EXPECT_EQ(company.living(), 2);
  EXPECT_EQ(company.living_at(1), 0);
  EXPECT_TRUE(company.has(2, 1)) << "it may live";
  ASSERT_EQ(company.crew().size(), 3u);
  EXPECT_EQ(company.crew()[2].pid, 17);
  EXPECT_EQ(company.crew()[2].share, 1);
  company.set_adrift(2, false);
  company.end({.rank = 0, .status = SIGKILL});
  EXPECT_FALSE(company.has(0, 0));
  EXPECT_EQ(company.living(), 2);
  EXPECT_EQ(company.exits().size(), 1u);
}

TEST(Company, KeepsWhatTheLatestOfTheForgottenWrote) {
  const TemporaryFolder folder("company");
  output::Writer writer;
  Company company(folder.path(), writer);
  constexpr int kCount = static_cast<int>(Company::kForgottenMax) + 10;
  for (int rank = 0; rank < kCount; ++rank) {
    company.add(rank, 0);
    company.end({.rank = rank});
  }
  company.forget_exits();
  EXPECT_TRUE(company.exits().empty());
  company.hear({.rank = kCount - 1, .target = 1, .bytes = "late"});
  company.hear({.rank = 0, .target = 1, .bytes = "too late"});
  company.finish();
  const auto log = [&](int rank) {
    return read_file(folder.path() / ("rank-" + std::to_string(rank) + ".log"));
  };
  EXPECT_EQ(log(kCount - 1), "late");
  EXPECT_EQ(log(0), "");
}

}  // namespace
}  // namespace trireme::cluster::launch::hosts
