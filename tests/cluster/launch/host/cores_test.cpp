// Goal:   processors are distributed evenly and completely, for any host, quota and job.
// Method: invariants for every combination of small hosts (packages, cores, hardware threads),
//         ranks and quotas; known plans for a few.

#include "trireme/cluster/launch/host/cores.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "trireme/base/error.h"

namespace trireme::cluster::launch::host {
namespace {

// Numbered like Linux: first one hardware thread of every core, then the siblings.
std::vector<Processor> make_host(int packages, int cores, int threads) {
  std::vector<Processor> processors;
  for (int thread = 0; thread < threads; ++thread) {
    for (int package = 0; package < packages; ++package) {
      for (int core = 0; core < cores; ++core) {
        const int id = static_cast<int>(processors.size());
        processors.push_back({.id = id, .package = package, .core = core});
      }
    }
  }
  return processors;
}

void expect_fair(const CoreRequest& request, const CorePlan& plan) {
  ASSERT_EQ(plan.shares.size(), static_cast<std::size_t>(request.ranks));
  const auto total = request.processors.size();
  EXPECT_EQ(plan.is_bound, request.bind && request.ranks <= static_cast<int>(total));
  std::multiset<int> dealt;
  std::size_t least = total;
  std::size_t most = 0;
  int threads = 0;
  for (const CoreShare& share : plan.shares) {
    dealt.insert(share.processors.begin(), share.processors.end());
    least = std::min(least, share.processors.size());
    most = std::max(most, share.processors.size());
    EXPECT_TRUE(std::is_sorted(share.processors.begin(), share.processors.end()));
    EXPECT_GE(share.threads, 1);
    EXPECT_LE(share.threads, static_cast<int>(std::max<std::size_t>(1, share.processors.size())));
    threads += share.threads;
  }
  EXPECT_EQ(plan.threads, threads);
  for (const Processor& processor : request.processors) {
    EXPECT_EQ(dealt.count(processor.id), plan.is_bound ? 1u : plan.shares.size());
  }
  if (request.quota >= request.ranks) {
    EXPECT_LE(threads, request.quota);
  }
  if (plan.is_bound) {
    EXPECT_GE(least, 1u);
  } else {
    EXPECT_EQ(least, total);
  }
}

TEST(Cores, AreDistributedEvenlyOnEverySmallHost) {
  for (int packages : {1, 2}) {
    for (int cores : {1, 2, 3, 5, 8}) {
      for (int threads : {1, 2}) {
        for (int ranks = 1; ranks <= 20; ++ranks) {
          for (double quota : {0.0, 0.5, 1.0, 1.5, 2.0, 7.0, 64.0}) {
            for (bool bind : {true, false}) {
              const CoreRequest request{.processors = make_host(packages, cores, threads),
                                        .quota = quota,
                                        .ranks = ranks,
                                        .bind = bind};
              SCOPED_TRACE(::testing::Message() << packages << "x" << cores << "x" << threads << " "
                                                << ranks << " ranks, quota " << quota);
              expect_fair(request, plan_cores(request));
            }
          }
        }
      }
    }
  }
}

TEST(Cores, SiblingsStayTogetherWhileThereAreEnoughCores) {
  const std::vector<Processor> host = make_host(2, 4, 2);  // 8 cores, 16 processors
  for (int ranks = 1; ranks <= 8; ++ranks) {
    const CorePlan plan = plan_cores({.processors = host, .ranks = ranks});
    std::map<std::pair<int, int>, std::set<int>> owners;
    for (int rank = 0; rank < ranks; ++rank) {
      for (int id : plan.shares[static_cast<std::size_t>(rank)].processors) {
        const Processor& place = host[static_cast<std::size_t>(id)];
        owners[{place.package, place.core}].insert(rank);
      }
    }
    for (const auto& [core, ranks_there] : owners) EXPECT_EQ(ranks_there.size(), 1u) << ranks;
  }
}

TEST(Cores, MatchKnownPlans) {
  const CorePlan four = plan_cores({.processors = make_host(1, 4, 2), .ranks = 2});
  EXPECT_EQ(four.shares[0].processors, (std::vector<int>{0, 1, 4, 5}));
  EXPECT_EQ(four.shares[1].processors, (std::vector<int>{2, 3, 6, 7}));
  EXPECT_EQ(four.shares[0].threads, 2) << "there are four processors but only two physical cores";
  EXPECT_FALSE(four.is_oversubscribed());

  const CorePlan uneven = plan_cores({.processors = make_host(1, 5, 1), .ranks = 3});
  EXPECT_EQ(uneven.shares[0].processors, (std::vector<int>{0}));
  EXPECT_EQ(uneven.shares[1].processors, (std::vector<int>{1, 2}));
  EXPECT_EQ(uneven.shares[2].processors, (std::vector<int>{3, 4}));
}

TEST(Cores, ReportsTooFewProcessors) {
  EXPECT_TRUE(plan_cores({.processors = make_host(1, 2, 1), .ranks = 3}).is_oversubscribed());
  EXPECT_FALSE(plan_cores({.processors = make_host(1, 2, 1), .ranks = 2}).is_oversubscribed());
  const CorePlan squeezed =
      plan_cores({.processors = make_host(1, 8, 1), .quota = 1.5, .ranks = 2});
  EXPECT_TRUE(squeezed.is_oversubscribed());
  EXPECT_EQ(squeezed.available, 1.5);
  EXPECT_TRUE(
      plan_cores({.processors = make_host(1, 8, 1), .ranks = 4, .threads = 8}).is_oversubscribed());
}

TEST(Cores, KeepsTheUsersNumberOfThreads) {
  const CorePlan plan =
      plan_cores({.processors = make_host(1, 8, 1), .quota = 2, .ranks = 2, .threads = 3});
  for (const CoreShare& share : plan.shares) EXPECT_EQ(share.threads, 3);
}

TEST(Cores, RefusesAnEmptyHostOrJob) {
  EXPECT_THROW(plan_cores({.processors = {}, .ranks = 1}), Error);
  EXPECT_THROW(plan_cores({.processors = make_host(1, 1, 1), .ranks = 0}), Error);
}

TEST(Cores, FormatsSetsLikeTheKernel) {
  EXPECT_EQ(to_text({}), "");
  EXPECT_EQ(to_text({3}), "3");
  EXPECT_EQ(to_text({0, 1, 2, 3, 8}), "0-3,8");
  EXPECT_EQ(to_text({0, 2, 4, 5}), "0,2,4-5");
}

}  // namespace
}  // namespace trireme::cluster::launch::host
