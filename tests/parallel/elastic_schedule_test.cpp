// Goal:   in an elastic job a change of strategy completes on all live ranks or on none, with the
//         whole state, wherever the first strategy keeps it: on every rank, or in shards of which
//         one was the failed rank's.
// Method: tiny jobs whose ranks die before, in and after the change; deaths that lose no work must
//         end with the same bits.

#include <gtest/gtest.h>

#include "tests/parallel/mortal_ranks.h"
#include "trireme/parallel/data/data_parallel.h"
#include "trireme/parallel/local/round/round_exchange.h"
#include "trireme/parallel/scheduled_sync.h"

namespace trireme::train {
namespace {

using parallel::kChanged;
using parallel::kPrepared;
using parallel::kStateHeld;

constexpr int kSteps = 7;

config::Config changing(const std::string& first, const std::string& schedule,
                        const Words& more = {}) {
  Words words{"optim.lr=0.01", "train.steps=7", "sync.kind=" + first,
              "sync.schedule=[" + schedule + "]"};
  words.insert(words.end(), more.begin(), more.end());
  return tiny_config("mlp", words);
}

const char* const kFirst[] = {"all_reduce", "shared", "zero3",  "hierarchical",
                              "local",      "diloco", "delayed"};

// The optimizer is AdamW, so a lost moment would change the weights.
TEST(ElasticSchedule, ADeathInTheChangeLosesNothing) {
  for (const std::string first : kFirst) {
    for (const std::string next : {"local steps=2", "diloco steps=2", "delayed"}) {
      SCOPED_TRACE(first + " to " + next);
      const config::Config config = changing(first, "\"3=" + next + "\"");
      const auto through = [&](int place, std::string_view point, int times) {
        return train_through(config, kSteps, {{place, point, times}}, kRanks - 1,
                             /*is_in_step=*/true)
            .weights;
      };
      const Weights held = through(2, kStateHeld.name, 1);
      EXPECT_EQ(distance(through(2, kChanged.name, 1), held), 0);
      // With a sum of late gradients, it matters whether a rank had received it.
      if (next == "delayed") continue;
      EXPECT_EQ(distance(through(2, kForward.name, 4), held), 0);
    }
  }
}

struct ChangeCase {
  const char* name;
  std::vector<Death> deaths;
  std::size_t survivors = kRanks - 1;
};

std::vector<ChangeCase> change_cases() {
  const std::string_view updating = parallel::data::kUpdating.name;
  return {{"before", {{1, kReduce.name, 2}}},
          {"in_the_last_update_before", {{0, updating, 3}}},
          {"prepared_before", {{3, kPrepared.name, 3}}},
          {"held", {{0, kStateHeld.name, 1}}},
          {"changed", {{0, kChanged.name, 1}}},
          {"held_by_two", {{0, kStateHeld.name, 1}, {3, kStateHeld.name, 1}}, 2},
          {"held_and_changed", {{1, kStateHeld.name, 1}, {2, kChanged.name, 1}}, 2},
          {"after", {{3, kReduce.name, 4}}},
          {"before_and_after", {{1, kBackward.name, 2}, {0, kMicroBatchEnded.name, 5}}, 2}};
}

void expect_survives(const config::Config& config, const std::vector<int>& hosts = {}) {
  const auto through = [&](const std::vector<Death>& deaths, int steps, std::size_t survivors) {
    return train_through(config, steps, deaths, survivors, false, hosts).weights;
  };
  const Weights first = through({}, 0, kRanks);
  const double way = distance(through({}, kSteps, kRanks), first);
  for (const ChangeCase& one : change_cases()) {
    SCOPED_TRACE(one.name);
    const double gone = distance(through(one.deaths, kSteps, one.survivors), first);
    EXPECT_GT(gone, way / 3);
    EXPECT_LT(gone, way * 3);
  }
}

TEST(ElasticSchedule, SurvivorsEndEqualWhenARankDiesAroundTheChange) {
  for (const std::string first : kFirst) {
    SCOPED_TRACE(first);
    expect_survives(changing(first, "\"3=local steps=2\""));
  }
}

TEST(ElasticSchedule, AJobMayChangeSeveralTimes) {
  expect_survives(changing("zero1", "\"2=diloco steps=2\", \"4=delayed\", \"5=gossip\""));
  expect_survives(changing("local", "\"3=delayed\", \"4=local steps=2\""));
}

TEST(ElasticSchedule, OverHosts) {
  for (const std::string first : {"all_reduce", "shared", "hierarchical"}) {
    SCOPED_TRACE(first);
    expect_survives(changing(first, "\"3=diloco steps=2\""), {0, 0, 1, 1});
  }
  // Messages of this codec vary in size, for which each strategy makes a group of its own; here it
  // has the same ranks as the groups of the first strategy.
  expect_survives(changing("shared", "\"3=local steps=2\"",
                           {"sync.codec.kind=threshold", "sync.codec.warmup=2"}),
                  {0, 1, 2, 3});
}

}  // namespace
}  // namespace trireme::train
