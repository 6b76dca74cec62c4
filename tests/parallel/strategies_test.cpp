// Goal:   settings are checked against the strategies' records, an error names the strategies that
//         support all settings, and the reference page is what the records say. A program can add
//         a strategy, which then takes part in all of this.
// Method: records and settings by hand; the page is rendered again and compared. With
//         TRIREME_REGENERATE=1 in the environment the test writes the page instead.

#include "trireme/parallel/strategies.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "tests/comm/host_threads.h"
#include "tests/folders.h"
#include "trireme/base/config/reader.h"
#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/codec/kinds.h"
#include "trireme/comm/connect_threads.h"
#include "trireme/optim/rule/sgd.h"
#include "trireme/parallel/kinds.h"
#include "trireme/parallel/strategy.h"
#include "trireme/parallel/strategy_conflicts.h"
#include "trireme/parallel/strategy_parts.h"
#include "trireme/parallel/sync_options.h"

namespace trireme::parallel {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr codec::CodecConfig kCoded{.kind = codec::CodecKind::Int8, .has_error_feedback = false};

std::string refusal(const std::string& name, const SyncOptions& options) {
  const Strategies all = built_in_strategies();
  try {
    all.check(all.named(name), options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidInput);
    return error.message();
  }
  return "";
}

// A strategy on several hosts whose replicas differ if its record says so, with other settings.
std::string refusal_with(const std::string& name, config::KeyedValues settings) {
  const Strategies all = built_in_strategies();
  settings.merge(facts_of(all.named(name), {.group = comm::connect_hosts({0, 1})[0]}));
  return config::complaint_of(conflicts_of(all), settings);
}

TEST(Strategies, HaveOneRecordPerName) {
  const Strategies strategies = built_in_strategies();
  std::set<std::string> names;
  for (const auto& one : strategies.all()) {
    EXPECT_TRUE(names.insert(one->name).second) << one->name;
    EXPECT_EQ(&strategies.named(one->name), one.get());
  }
  EXPECT_GE(names.size(), 13U);
  EXPECT_EQ(strategies.all().front()->name, "auto") << "the default comes first";
  EXPECT_THROW(strategies.named("all-reduce"), Error);
}

std::string names_with(bool Capabilities::* capability, bool is_required = true) {
  return built_in_strategies().names(
      [&](const Strategy& one) { return one.can.*capability == is_required; });
}

TEST(Strategies, ASettingThatAStrategyLacksIsRefusedWithTheStrategiesThatHaveIt) {
  const auto hosts = comm::connect_hosts({0, 1});
  const auto unequal = comm::connect_hosts({0, 0, 1});
  EXPECT_EQ(refusal("all_reduce", {.codec = kCoded, .is_elastic = true}), "");
  const std::string coded = names_with(&Capabilities::has_codec);
  EXPECT_THAT(coded, AllOf(HasSubstr("all_reduce, "), HasSubstr("zero3"), Not(HasSubstr("gossip")),
                           Not(HasSubstr("none")), Not(HasSubstr("auto"))));
  EXPECT_EQ(refusal("gossip", {.group = hosts[0], .codec = kCoded}),
            "sync.kind = \"gossip\" does not support a codec (sync.codec); use one of " + coded +
                ", or set sync.codec.kind=none");
  EXPECT_THAT(refusal("none", {.is_elastic = true}), HasSubstr("elastic.enabled=false"));
  EXPECT_THAT(refusal("local", {.is_ordered = true}),
              HasSubstr("use one of " + names_with(&Capabilities::has_logical_ranks) + ", or set"));
  EXPECT_THAT(refusal("none", {.is_ordered = true}), HasSubstr("does not support"));
  EXPECT_EQ(refusal("zero1", {.can_leave_out = true, .is_elastic = true}), "");
  EXPECT_THAT(refusal("zero3", {.can_leave_out = true}),
              HasSubstr(names_with(&Capabilities::can_drop_stragglers) +
                        ", or set balance.drop_stragglers=0"));
  EXPECT_THAT(refusal("delayed", {.is_loss_scaled = true}), HasSubstr("train.precision=bf16"));
  EXPECT_THAT(refusal("shared", {.group = unequal[0]}),
              HasSubstr("or start the same number of ranks on every host"));
  EXPECT_THAT(refusal("zero1", {.codec = kCoded}), HasSubstr("share the memory"));
  EXPECT_THAT(refusal("zero1", {.codec = kCoded}), Not(HasSubstr("zero3")));
  EXPECT_THAT(refusal("shared", {.is_sliced_in_host = true}),
              HasSubstr("use one of zero1, zero2, zero3, or set sync.hybrid_shard=false"));
}

TEST(Strategies, WhatReplicasLackIsRefusedWhereReplicasDiffer) {
  const std::string same = names_with(&Capabilities::has_replicas, false);
  const config::KeyedValues balance{{"balance.kind", {"proportional"}}};
  EXPECT_THAT(refusal_with("gossip", balance),
              HasSubstr("use one of " + same + ", or set balance.kind=off"));
  EXPECT_EQ(refusal_with("delayed", balance), "");
  EXPECT_EQ(refusal_with("gossip", {{"balance.kind", {"off"}}}), "");
  EXPECT_THAT(refusal_with("hierarchical", balance), HasSubstr("use one of " + same + ", or"));
  config::KeyedValues one_host = balance;
  one_host["job.has_replicas"] = {false};
  EXPECT_EQ(refusal_with("hierarchical", one_host), "");
  const config::KeyedValues fallback{{"train.fallback_steps", {3}}};
  EXPECT_THAT(refusal_with("local", fallback),
              HasSubstr("which requires a loss that all ranks share; use one of " + same + ", or"));
  EXPECT_EQ(refusal_with("zero1", fallback), "");
}

// `trireme` knows the settings of a recipe, but neither the hosts nor whether replicas differ.
TEST(Strategies, WhatARecipeAloneShowsIsRefusedFromItsSchema) {
  config::Schema schema;
  built_in_strategies().add_section(schema);
  const auto refusal_of = [&](const std::vector<std::string>& overrides,
                              const config::KeyedValues& facts) -> std::string {
    try {
      config::read_config(schema, {.overrides = overrides}).check_conflicts(facts);
      return "";
    } catch (const Error& error) {
      return error.message();
    }
  };
  EXPECT_EQ(refusal_of({}, {{"elastic.enabled", {true}}, {"train.logical_ranks", {4}}}), "");
  EXPECT_EQ(refusal_of({"sync.kind=none"}, {{"elastic.enabled", {true}}}),
            refusal("none", {.is_elastic = true}));
  EXPECT_THAT(refusal_of({"sync.codec.kind=int8"}, {{"train.logical_ranks", {4}}}),
              AllOf(HasSubstr("sync.codec"), HasSubstr("train.logical_ranks")));
  EXPECT_THAT(refusal_of({"sync.kind=diloco", "sync.overlap=1", "sync.codec.kind=threshold",
                          "sync.codec.error_feedback=false"},
                         {{"elastic.enabled", {true}}}),
              HasSubstr("vary in size"));
  const config::KeyedValues balance{{"balance.kind", {"proportional"}}};
  EXPECT_THAT(refusal_of({"sync.kind=local"}, balance), HasSubstr("balance.kind=off"));
  EXPECT_EQ(refusal_of({"sync.kind=hierarchical"}, balance), "") << "ranks may share one host";
  EXPECT_EQ(refusal_of({"sync.kind=zero1", "sync.codec.kind=int8"}, {}), "") << "or be on several";
  const config::KeyedValues fp16{{"train.precision", {"fp16"}}};
  EXPECT_EQ(refusal_of({"sync.kind=hierarchical", "sync.codec.kind=int8"}, fp16), "");
  EXPECT_THAT(
      refusal_of({"sync.kind=hierarchical", "sync.across=gradients", "sync.codec.kind=int8"}, fp16),
      HasSubstr("sync.codec.error_feedback=false"));
}

TEST(Strategies, SettingsThatContradictEachOtherAreRefusedWithEveryStrategy) {
  EXPECT_THAT(refusal("all_reduce", {.codec = kCoded, .is_ordered = true}),
              HasSubstr("not bitwise reproducible"));
  EXPECT_THAT(refusal("all_reduce", {.is_ordered = true, .can_leave_out = true}),
              HasSubstr("remove one of them"));
  const codec::CodecConfig residuals{.kind = codec::CodecKind::Int8};
  EXPECT_THAT(refusal("all_reduce", {.codec = residuals, .is_loss_scaled = true}),
              HasSubstr("sync.codec.error_feedback=false"));
  EXPECT_EQ(refusal("local", {.codec = residuals, .is_loss_scaled = true}), "")
      << "replicas send each other weights";
  EXPECT_THAT(refusal("all_reduce", {.codec = kCoded, .own_codec = codec::make_codec(kCoded)}),
              HasSubstr("codec of the program"));
  const auto unequal = comm::connect_hosts({0, 0, 1});
  EXPECT_THAT(refusal("zero1", {.group = unequal[0], .is_sliced_in_host = true}),
              HasSubstr("sync.hybrid_shard=false"));
  EXPECT_EQ(refusal("zero1", {.group = unequal[0]}), "");
  const codec::CodecConfig varying{.kind = codec::CodecKind::Threshold};
  EXPECT_THAT(refusal("diloco", {.pace = {.overlap = 1}, .codec = varying, .is_elastic = true}),
              HasSubstr("vary in size"));
  EXPECT_EQ(refusal("diloco", {.pace = {.overlap = 1}, .codec = kCoded, .is_elastic = true}), "");
  EXPECT_THAT(refusal("diloco", {.pace = {.slack = 1}, .is_elastic = true}),
              HasSubstr("sync.slack"));
}

TEST(Strategies, OnlySomeCanReplaceOthersInElasticJobs) {
  const SyncOptions later{.stretches = {{.begin = 5}}, .is_elastic = true};
  EXPECT_EQ(refusal("local", later), "");
  EXPECT_THAT(refusal("all_reduce", later), HasSubstr("sync.schedule"));
  EXPECT_EQ(refusal("all_reduce", {.stretches = {{.begin = 5}}}), "");
}

// A strategy of a program: its settings reach it, and messages name it.
struct HalfConfig {
  std::int64_t size = 2;

  static void describe(config::Fields<HalfConfig>& f) {
    f.add("size", &HalfConfig::size).range(1, 8).help("how many");
  }
};

struct Made {
  std::int64_t size = 0;
  std::int64_t steps = 0;
};

Strategies with_half(std::shared_ptr<Made> made = {}) {
  Strategies all = built_in_strategies();
  all.add<HalfConfig>({.name = "half",
                       .help = "half of the ranks",
                       .can = {.has_codec = true},
                       .make =
                           [made](const HalfConfig& config, SyncOptions options) {
                             *made = {config.size, options.pace.steps};
                             return make_single_rank(options);
                           },
                       .pace = [](const HalfConfig& config) -> local::RoundSettings {
                         return {.steps = 10 * config.size};
                       }});
  return all;
}

TEST(OwnStrategy, ReceivesItsSettings) {
  const auto made = std::make_shared<Made>();
  const Strategies all = with_half(made);
  config::Schema schema;
  all.add_section(schema);
  const auto stretches = stretches_of(
      config::read_config(schema, {.overrides = {"sync.kind=half", "sync.size=3"}}), all);
  EXPECT_EQ(stretches.at(0).pace.steps, 30);
  const auto groups = comm::connect_threads(2);
  make_gradient_sync({.parameters = {},
                      .optimizer = std::make_shared<optim::Sgd>(optim::SgdConfig{}),
                      .group = groups[0],
                      .stretches = stretches},
                     all);
  EXPECT_EQ(made->size, 3);
  EXPECT_EQ(made->steps, 30);
  for (const char* wrong :
       {"sync.size=9", "sync.kind=half2", "sync.schedule=[\"5=half size=0\"]"}) {
    EXPECT_THROW(config::read_config(schema, {.overrides = {"sync.kind=half", wrong}}), Error)
        << wrong;
  }
}

TEST(OwnStrategy, IsNamedInMessagesAndOnThePage) {
  const Strategies all = with_half();
  try {
    all.check(all.named("gossip"), {.codec = kCoded});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), HasSubstr("gossip\" does not support"));
    EXPECT_THAT(error.message(), HasSubstr("post_local, half, or set"));
  }
  EXPECT_THAT(strategies_page(all), HasSubstr("| `half` | half of the ranks |"));
}

TEST(OwnStrategy, NeedsANewNameAndExactlyOneWayToBeMade) {
  Strategies all = with_half();
  const auto make = [](const NoSettings&, SyncOptions options) -> std::shared_ptr<GradientSync> {
    return make_single_rank(options);
  };
  EXPECT_THROW(all.add({.name = "half", .help = "again", .make = make}), Error);
  EXPECT_THROW(all.add({.name = "other", .help = "never made"}), Error);
  all.add({.name = "other", .help = "made", .make = make});
}

TEST(StrategiesPage, IsWhatTheRecordsSay) {
  const std::filesystem::path page = std::filesystem::path(source_folder()) / "docs/strategies.md";
  const std::string text = strategies_page(built_in_strategies());
  if (std::getenv("TRIREME_REGENERATE") != nullptr) write_file_atomically(page, text);
  EXPECT_EQ(read_file(page), text)
      << "docs/strategies.md is out of date; run the tests once with TRIREME_REGENERATE=1";
}

}  // namespace
}  // namespace trireme::parallel
