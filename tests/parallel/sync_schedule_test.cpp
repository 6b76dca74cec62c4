// Goal:   sync.schedule selects strategies by step, each with its own settings; errors name the
//         invalid entry.
// Method: settings, read like those of a recipe.

#include "trireme/parallel/sync_schedule.h"

#include <gtest/gtest.h>

#include "trireme/base/config/reader.h"
#include "trireme/base/error.h"
#include "trireme/comm/connect_threads.h"
#include "trireme/optim/rule/sgd.h"
#include "trireme/parallel/kinds.h"
#include "trireme/testing/code_of.h"

namespace trireme::parallel {
namespace {

std::vector<Stretch> read(const std::vector<std::string>& settings) {
  const Strategies strategies = built_in_strategies();
  config::Schema schema;
  strategies.add_section(schema);
  return stretches_of(config::read_config(schema, {.overrides = settings}), strategies);
}

std::string complaint_of(const std::vector<std::string>& schedule) {
  return complaint_of_schedule(schedule, built_in_strategies());
}

TEST(SyncSchedule, BeginsWithSyncKindAndContinuesWithTheSchedule) {
  const auto all = read({"sync.kind=all_reduce",
                         "sync.schedule=[\"500=local steps=8 round.seconds=2\", \"2000=shared\", "
                         "\"3000=diloco\"]"});
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].begin, 0);
  EXPECT_EQ(all[0].kind, "all_reduce");
  EXPECT_EQ(all[1].begin, 500);
  EXPECT_EQ(all[1].kind, "local");
  EXPECT_EQ(all[1].pace.steps, 8);
  EXPECT_EQ(all[1].pace.end.seconds, 2);
  EXPECT_EQ(all[1].pace.begin, 500) << "rounds are counted from this step";
  EXPECT_EQ(all[2].kind, "shared");
  EXPECT_EQ(all[3].pace.steps, 50) << "the default of diloco";
  EXPECT_EQ(read({"sync.kind=gossip"}).size(), 1u);
}

TEST(SyncSchedule, PostLocalStandsForAllReduceAndLocal) {
  const Strategies strategies = built_in_strategies();
  const auto parts = [&](const std::vector<std::string>& settings) {
    return strategies.named("post_local").expand(read(settings).at(0), {});
  };
  const auto two = parts({"sync.kind=post_local", "sync.begin=7"});
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two[0].kind, "all_reduce");
  EXPECT_EQ(two[1].kind, "local");
  EXPECT_EQ(two[1].begin, 7);
  EXPECT_EQ(two[1].pace.begin, 7);
  const auto one = parts({"sync.kind=post_local", "sync.begin=0"});
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].kind, "local");
}

TEST(SyncSchedule, AScheduleBeginsAfterPostLocalHasChanged) {
  const auto groups = comm::connect_threads(2);
  for (const char* early : {"7", "3"}) {
    const auto all = read({"sync.kind=post_local", "sync.begin=7",
                           "sync.schedule=[\"" + std::string(early) + "=all_reduce\"]"});
    EXPECT_EQ(testing::code_of([&] {
                make_gradient_sync({.parameters = {},
                                    .optimizer = std::make_shared<optim::Sgd>(optim::SgdConfig{}),
                                    .group = groups[0],
                                    .stretches = all});
              }),
              ErrorCode::InvalidInput)
        << early;
  }
}

TEST(SyncSchedule, InvalidEntriesAreRejectedByName) {
  EXPECT_EQ(complaint_of({}), "");
  EXPECT_EQ(complaint_of({"1=local", "2=all_reduce"}), "");
  for (const char* wrong :
       {"", "5", "=local", "5=", "0=local", "-1=local", "x=local", "5=nothing", "5=local steps=0",
        "5=local stepz=3", "5=all_reduce steps=3", "5=post_local", "5=local bucket=1KiB"}) {
    EXPECT_NE(complaint_of({wrong}), "") << wrong;
  }
  EXPECT_NE(complaint_of({"5=local", "5=all_reduce"}), "");
  EXPECT_NE(complaint_of({"5=local stepz=3"}).find("stepz"), std::string::npos);
  EXPECT_EQ(testing::code_of([] { read({"sync.schedule=[\"5=nothing\"]"}); }),
            ErrorCode::InvalidInput);
}

}  // namespace
}  // namespace trireme::parallel
