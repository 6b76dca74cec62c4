// Goal:   settings that cannot be combined are refused before data are opened, with everything that
//         only the ranks know: their number, whether the job is elastic, and each strategy of a
//         schedule. One rank synchronizes nothing.
// Method: jobs whose data do not exist, so that whatever opens them reports that instead.

#include "trireme/train/job_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/train/tiny_job.h"
#include "trireme/base/error.h"
#include "trireme/train/job.h"

namespace trireme::train {
namespace {

using ::testing::HasSubstr;

config::Config without_data(const Words& overrides) {
  const std::string text = R"(
[model]
kind = "mlp"
[data]
kind = "csv"
train = "/nowhere/a.csv"
targets = ["y"]
)";
  return config::read_config(recipe_schema(built_in_kinds()),
                             {.files = {{"recipe.toml", text}}, .overrides = overrides});
}

std::string refusal(const Words& overrides, int ranks, bool is_elastic = false) {
  std::string message;
  const config::Config config = without_data(overrides);
  const auto groups = comm::connect_threads(ranks);
  testing::run_rank_threads(ranks, [&](int rank) {
    try {
      open_job(config, built_in_kinds(), groups[static_cast<std::size_t>(rank)],
               {.is_elastic = is_elastic});
    } catch (const Error& error) {
      if (rank == 0) message = error.message();
    }
  });
  return message;
}

TEST(JobSettings, AreRefusedBeforeDataAreOpened) {
  EXPECT_THAT(refusal({}, 2), HasSubstr("/nowhere/a.csv"));
  EXPECT_THAT(refusal({"sync.kind=gossip", "train.logical_ranks=4"}, 2),
              HasSubstr("\"gossip\" does not support train.logical_ranks"));
  EXPECT_THAT(refusal({"sync.kind=gossip", "balance.kind=proportional"}, 2),
              HasSubstr("balance.kind=off"));
  EXPECT_THAT(refusal({"sync.kind=zero1", "sync.codec.kind=int8"}, 2),
              HasSubstr("share the memory"));
  EXPECT_THAT(refusal({"train.logical_ranks=1"}, 2),
              HasSubstr("less than the number of data-parallel replicas"));
  EXPECT_THAT(refusal({"balance.kind=static", "balance.weights=[1]"}, 2), HasSubstr("2 replicas"));
  EXPECT_THAT(refusal({"balance.drop_stragglers=2"}, 2), HasSubstr("would exclude all"));
}

TEST(JobSettings, AreCheckedForEveryStrategyOfASchedule) {
  EXPECT_THAT(refusal({"sync.schedule=[\"5=gossip\"]", "sync.codec.kind=int8"}, 2),
              HasSubstr("\"gossip\" does not support a codec"));
  EXPECT_THAT(
      refusal({"sync.schedule=[\"5=local\"]", "train.precision=bf16", "train.fallback_steps=3"}, 2),
      HasSubstr("train.fallback_steps=0"));
  EXPECT_THAT(refusal({"sync.schedule=[\"5=all_reduce\"]"}, 1, /*is_elastic=*/true),
              HasSubstr("sync.schedule"));
}

TEST(JobSettings, OfElasticJobsAreCheckedWithoutTheirRanks) {
  EXPECT_THAT(refusal({"sync.kind=none"}, 1, /*is_elastic=*/true), HasSubstr("elastic jobs"));
  EXPECT_THAT(refusal({"balance.kind=static", "balance.weights=[1]"}, 1, /*is_elastic=*/true),
              HasSubstr("balance.kind=proportional"));
  EXPECT_THAT(refusal({"balance.drop_stragglers=2"}, 1, /*is_elastic=*/true),
              HasSubstr("/nowhere/a.csv"));
}

TEST(JobSettings, OfOneRankThatSynchronizesNothingDoNotConflict) {
  EXPECT_THAT(refusal({"sync.kind=gossip", "train.logical_ranks=4", "sync.codec.kind=int8"}, 1),
              HasSubstr("/nowhere/a.csv"));
}

}  // namespace
}  // namespace trireme::train
