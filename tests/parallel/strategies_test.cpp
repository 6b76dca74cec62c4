// Goal:   settings are checked against the strategies' records, an error names the strategies that
//         support all settings, and the reference page is what the records say.
// Method: records and settings by hand; the page is rendered again and compared. With
//         TRIREME_REGENERATE=1 in the environment the test writes the page instead.

#include "trireme/parallel/strategies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "tests/folders.h"
#include "trireme/base/error.h"
#include "trireme/base/file/file.h"

namespace trireme::parallel {
namespace {

using ::testing::HasSubstr;

std::string refusal(SyncKind kind, const SyncNeeds& needs) {
  try {
    check_needs(strategy_of(kind), needs);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidInput);
    return error.message();
  }
  return "";
}

TEST(Strategies, HaveOneRecordPerKindAndName) {
  std::set<std::string> names;
  for (const Strategy& one : strategies()) {
    EXPECT_TRUE(names.insert(one.name).second) << one.name;
    EXPECT_EQ(&strategy_of(one.kind), &one) << one.name;
    EXPECT_EQ(&strategy_named(one.name), &one) << one.name;
  }
  EXPECT_EQ(names.size(), 13U);
  EXPECT_THROW(strategy_named("all-reduce"), Error);
}

TEST(Strategies, ASettingThatAStrategyLacksIsRefusedWithTheStrategiesThatHaveIt) {
  EXPECT_EQ(refusal(SyncKind::AllReduce, {.is_coded = true, .is_elastic = true}), "");
  EXPECT_EQ(refusal(SyncKind::Gossip, {.is_coded = true}),
            "sync.kind = \"gossip\" does not support a codec (sync.codec); use one of all_reduce, "
            "shared, zero1, zero2, zero3, local, post_local, hierarchical, diloco, delayed, or set "
            "sync.codec.kind=none");
  EXPECT_THAT(refusal(SyncKind::None, {.is_elastic = true}), HasSubstr("elastic.enabled=false"));
  EXPECT_THAT(refusal(SyncKind::Local, {.has_logical_ranks = true}),
              HasSubstr("use one of all_reduce, shared, zero1, zero2, zero3, or set"));
  EXPECT_THAT(refusal(SyncKind::None, {.has_logical_ranks = true}), HasSubstr("does not support"));
  EXPECT_THAT(refusal(SyncKind::Zero1, {.drops_stragglers = true}),
              HasSubstr("use one of all_reduce, or set balance.drop_stragglers=0"));
}

TEST(Strategies, SettingsThatContradictEachOtherAreRefusedWithEveryStrategy) {
  EXPECT_THAT(refusal(SyncKind::AllReduce, {.is_coded = true, .has_logical_ranks = true}),
              HasSubstr("not bitwise reproducible"));
  EXPECT_THAT(refusal(SyncKind::AllReduce, {.has_logical_ranks = true, .drops_stragglers = true}),
              HasSubstr("remove one of them"));
  EXPECT_THAT(refusal(SyncKind::AllReduce, {.is_elastic = true, .drops_stragglers = true}),
              HasSubstr("not supported in elastic jobs"));
}

TEST(StrategiesPage, IsWhatTheRecordsSay) {
  const std::filesystem::path page = std::filesystem::path(source_folder()) / "docs/strategies.md";
  if (std::getenv("TRIREME_REGENERATE") != nullptr) write_file_atomically(page, strategies_page());
  EXPECT_EQ(read_file(page), strategies_page())
      << "docs/strategies.md is out of date; run the tests once with TRIREME_REGENERATE=1";
}

}  // namespace
}  // namespace trireme::parallel
