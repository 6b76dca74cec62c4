// Goal:   local-update methods and delayed gradients survive failures. A step and a round complete
//         on all live ranks or on none; means are over the live ranks; outer weights and momentum
//         survive; a new rank begins with the common state.
// Method: ranks as threads (pulled_ranks.h), compared with a few lines of arithmetic; and tiny jobs
//         whose ranks die at many different moments.

#include <gtest/gtest.h>

#include "tests/parallel/pulled_ranks.h"
#include "trireme/parallel/data/data_parallel.h"
#include "trireme/parallel/local/rounds.h"

namespace trireme::train {
namespace {

using parallel::kPrepared;
using parallel::local::kGathered;
using parallel::local::kLanded;
using parallel::local::kRoundOver;

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// The expected weights by step and place. `there(step)`: how many places run the step;
// `meeting(step)`: how many end a round with it.
std::vector<std::vector<double>> by_hand(const Script& script,
                                         const std::function<int(std::int64_t)>& there,
                                         const std::function<int(std::int64_t)>& meeting) {
  std::vector<double> w(static_cast<std::size_t>(there(0)), kFirstWeight), sent;
  double anchor = kFirstWeight, momentum = 0;
  std::int64_t departed = -1;
  const auto land = [&](std::int64_t step) {
    w.resize(static_cast<std::size_t>(meeting(step)));
    sent.resize(w.size());
    const double moved = anchor - mean_of(sent);
    momentum = script.pace.outer_momentum * momentum + moved;
    anchor -= script.pace.outer_lr * (moved + script.pace.outer_momentum * momentum);
    // What a replica has moved meanwhile is added on top.
    for (std::size_t r = 0; r < w.size(); ++r) w[r] += anchor - sent[r];
    departed = -1;
  };
  std::vector<std::vector<double>> path;
  for (std::int64_t step = 0; step < script.steps; ++step) {
    w.resize(static_cast<std::size_t>(there(step)), w[0]);
    if (departed >= 0) sent.resize(w.size(), sent[0]);
    for (std::size_t r = 0; r < w.size(); ++r) w[r] -= kPullRate * (w[r] - static_cast<double>(r));
    if (departed >= 0 && step - departed >= script.pace.overlap) land(step);
    const bool is_told = script.is_told && step + 1 == std::max(script.joins, script.leaves);
    if (is_told && departed >= 0) land(step);
    if ((step + 1) % script.pace.steps == 0) {
      sent = w;
      departed = step;
      if (script.pace.overlap == 0 || is_told) land(step);
    }
    path.push_back(w);
  }
  return path;
}

void expect_played(const Script& script, const std::vector<std::vector<double>>& wanted,
                   int living) {
  const auto paths = played(script);
  for (int place = 0; place < living; ++place) {
    for (const auto& [step, weight] : paths[static_cast<std::size_t>(place)]) {
      EXPECT_NEAR(weight, wanted[static_cast<std::size_t>(step)][static_cast<std::size_t>(place)],
                  1e-12)
          << "step " << step << ", place " << place;
    }
    EXPECT_EQ(paths[static_cast<std::size_t>(place)].count(script.steps - 1), 1U);
  }
}

std::vector<Script> scripts() {
  return {{.kind = "local", .pace = {.steps = 2}},
          {.kind = "diloco", .pace = {.steps = 2, .outer_lr = 0.7, .outer_momentum = 0.9}}};
}

// The round continues with the other ranks, and its mean is over them.
TEST(ElasticRounds, ARankThatDiesBeforeTheMeanIsNotInIt) {
  for (Script script : scripts()) {
    script.point = kRoundOver.name;
    script.times = 2;  // after step 3
    expect_played(script,
                  by_hand(
                      script, [](auto step) { return step <= 3 ? 3 : 2; },
                      [](auto step) { return step < 3 ? 3 : 2; }),
                  2);
  }
}

// In the middle of a round: the live ranks complete the step.
TEST(ElasticRounds, TheProgressOfARankThatDiesInARoundIsLost) {
  for (Script script : scripts()) {
    script.point = parallel::data::kUpdating.name;
    script.times = 3;  // in step 2, the first of its round
    script.steps = 4;
    const auto paths = played(script);
    // Whether three or two ranks run step 2 depends on timing; each replica makes the same update
    // in both cases.
    const auto wanted = by_hand(
        script, [](auto step) { return step < 2 ? 3 : 2; },
        [](auto step) { return step < 2 ? 3 : 2; });
    for (std::size_t place = 0; place < 2; ++place) {
      EXPECT_NEAR(paths[place].at(3), wanted[3][place], 1e-12);
    }
  }
}

// The live ranks all have the mean of three replicas, or all that of two; their weights are equal
// in both cases.
TEST(ElasticRounds, SurvivorsAreEqualIfARankDiesBeforeItWritesTheMean) {
  for (Script script : scripts()) {
    script.point = kGathered.name;
    script.times = 1;
    script.steps = 3;
    const auto paths = played(script);
    EXPECT_EQ(paths[0].at(1), paths[1].at(1));
    const auto of = [&](int meeting) {
      return by_hand(script, [](auto) { return 3; }, [=](auto) { return meeting; })[1][0];
    };
    const double found = paths[0].at(1);
    EXPECT_LT(std::min(std::abs(found - of(3)), std::abs(found - of(2))), 1e-12);
  }
}

// Rounds end with steps 2 and 5, and their means land two steps later.
Script overlapped() {
  return {.kind = "diloco",
          .pace = {.steps = 3, .outer_lr = 0.7, .outer_momentum = 0.9, .overlap = 2},
          .steps = 9};
}

TEST(ElasticRounds, ValuesInFlightLandWithoutTheFailedRank) {
  const auto before = [](std::int64_t last) {
    return [last](std::int64_t step) { return step <= last ? 3 : 2; };
  };
  struct Case {
    std::string_view point;
    int times;
    std::int64_t last;  // step that the failed rank runs
  };
  // While values are in flight, before they land, and in a step in which others depart.
  for (const Case& one : {Case{kPrepared.name, 4, 2}, Case{kRoundOver.name, 1, 4},
                          Case{kRoundOver.name, 2, 7}, Case{kPrepared.name, 7, 5}}) {
    Script script = overlapped();
    script.point = one.point;
    script.times = one.times;
    SCOPED_TRACE(std::string(one.point) + " " + std::to_string(one.times));
    const auto meeting = [&](std::int64_t step) {
      return step < one.last || (one.point == kPrepared.name && step == one.last) ? 3 : 2;
    };
    expect_played(script, by_hand(script, before(one.last), meeting), 2);
  }
}

// A rank dies when it has the mean but has not written it: the mean lands on all live ranks or on
// none.
TEST(ElasticRounds, AMeanLandsOnAllRanksOrOnNone) {
  Script script = overlapped();
  script.point = kGathered.name;
  script.times = 1;
  script.steps = 6;
  const auto paths = played(script);
  const auto of = [&](int meeting) {
    return by_hand(script, [](auto) { return 3; }, [=](auto) { return meeting; })[4];
  };
  const bool is_of_three = std::abs(paths[0].at(4) - of(3)[0]) < 1e-12;
  for (std::size_t place : {0, 1}) {
    EXPECT_NEAR(paths[place].at(4), of(is_of_three ? 3 : 2)[place], 1e-12) << place;
  }
}

TEST(ElasticRounds, ARankMayJoinWhileValuesAreInFlight) {
  Script script = overlapped();
  script.joins = 4;
  const auto there = [](auto step) { return step < 4 ? 2 : 3; };
  expect_played(script, by_hand(script, there, there), 3);
}

// What a leaving rank has learned is in the mean, and a joining rank does not count twice.
TEST(ElasticRounds, NothingIsInFlightWhenARankJoinsOrLeaves) {
  for (const std::int64_t overlap : {2, 3}) {
    Script script = overlapped();
    script.pace.overlap = overlap;
    script.is_told = true;
    script.joins = 6;
    const auto coming = [](auto step) { return step < 6 ? 2 : 3; };
    expect_played(script, by_hand(script, coming, coming), 3);
    script.joins = -1;
    script.leaves = 6;
    const auto leaving = [](auto step) { return step < 6 ? 3 : 2; };
    expect_played(script, by_hand(script, leaving, leaving), 2);
  }
}

// This also holds for a fragment that was synchronized before the end of the round.
TEST(ElasticRounds, ARankThatLeavesTakesNothingOfAnyFragmentWithIt) {
  Script script{.kind = "diloco", .pace = {.steps = 4, .fragments = 2}, .steps = 5};
  script.is_told = true;
  script.leaves = 4;
  const auto paths = played(script);
  EXPECT_EQ(paths[0].at(3), paths[1].at(3));
  EXPECT_EQ(paths[0].at(3), paths[2].at(3));
  EXPECT_NE(paths[0].at(4), paths[1].at(4));
}

// It gets the common weights, and the outer momentum.
TEST(ElasticRounds, ANewRankBeginsWithTheCommonState) {
  for (Script script : scripts()) {
    script.joins = 2;
    const auto there = [](auto step) { return step < 2 ? 2 : 3; };
    expect_played(script, by_hand(script, there, there), 3);
  }
}

// In the middle of a round it begins with a copy of the first replica.
TEST(ElasticRounds, ARankMayJoinInTheMiddleOfARound) {
  for (Script script : scripts()) {
    script.joins = 3;
    const auto there = [](auto step) { return step < 3 ? 2 : 3; };
    expect_played(script, by_hand(script, there, there), 3);
  }
}

TEST(ElasticRounds, RejectsUnsupportedCombinations) {
  for (const Words& words :
       {Words{"sync.kind=local", "sync.slack=1"},
        Words{"sync.kind=diloco", "sync.overlap=1", "sync.codec.kind=threshold"},
        Words{"sync.kind=all_reduce", "sync.schedule=[\"3=hierarchical\"]"},
        Words{"sync.kind=local", "sync.schedule=[\"3=all_reduce\"]"}}) {
    try {
      open_job(tiny_config("mlp", words), tiny_kinds(), comm::Group::solo(), {.is_elastic = true});
      ADD_FAILURE() << words[0] << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::InvalidInput) << words[0];
      EXPECT_NE(error.message().find("elastic"), std::string::npos) << error.message();
    }
  }
}

struct FailureCase {
  const char* name;
  std::vector<Death> deaths;
  std::size_t survivors = kRanks - 1;
};

std::vector<FailureCase> failure_cases() {
  const std::string_view prepared = kPrepared.name;
  const std::string_view updating = parallel::data::kUpdating.name;
  return {{"no_failure", {}, kRanks},
          {"forward_at_once", {{2, kForward.name, 1}}},
          {"backward", {{0, kBackward.name, 5}}},
          {"before_reduce", {{3, kReduce.name, 3}}},
          {"prepared", {{0, prepared, 2}}},
          {"updating", {{2, updating, 4}}},
          {"between_steps", {{0, kMicroBatchEnded.name, 3}}},
          {"round_over", {{1, kRoundOver.name, 1}}},
          {"gathered", {{0, kGathered.name, 2}}},
          {"landed", {{1, kLanded.name, 1}}},
          {"two_in_a_round", {{0, kRoundOver.name, 2}, {1, kGathered.name, 2}}, 2},
          {"during_recovery", {{1, kRoundOver.name, 1}, {2, kRoundOver.name, 2}}, 2},
          {"the_last", {{3, kGathered.name, 4}}},
          {"joining", {{1, kRoundOver.name, 4}}},
          {"three", {{1, prepared, 2}, {2, updating, 7}, {3, kMicroBatchEnded.name, 4}}, 1}};
}

// `rounds`: how often a job of seven steps combines the replicas, including its end.
struct Kind {
  Words words;
  int rounds = 0;
};

config::Config config_of(const Kind& kind) {
  Words words{"optim.kind=sgd", "optim.lr=0.1", "train.steps=7"};
  words.insert(words.end(), kind.words.begin(), kind.words.end());
  return tiny_config("mlp", words);
}

bool can_occur(const FailureCase& failure, const Kind& kind) {
  return std::none_of(failure.deaths.begin(), failure.deaths.end(), [&](const Death& death) {
    const bool is_of_round = death.point == kRoundOver.name || death.point == kGathered.name ||
                             death.point == kLanded.name;
    return is_of_round && death.times > kind.rounds;
  });
}

class ElasticKind : public ::testing::TestWithParam<Kind> {};

// Survivors end with equal weights, about as far from the start as a job without failures.
TEST_P(ElasticKind, SurvivesAFailureAtEveryMoment) {
  const config::Config config = config_of(GetParam());
  const Weights first = train_through(config, 0, {}, kRanks).weights;
  const double way = distance(train_through(config, 7, {}, kRanks).weights, first);
  for (const FailureCase& failure : failure_cases()) {
    if (!can_occur(failure, GetParam())) continue;
    SCOPED_TRACE(failure.name);
    const Trained through = train_through(config, 7, failure.deaths, failure.survivors);
    EXPECT_GT(distance(through.weights, first), way / 3);
    EXPECT_LT(distance(through.weights, first), way * 3);
  }
}

// A step that was not prepared runs again from its beginning.
TEST_P(ElasticKind, RunsAStepAgainBitForBit) {
  // The sum of late gradients depends on whether a live rank had received it.
  if (GetParam().words[0] == "sync.kind=delayed") return;
  const config::Config config = config_of(GetParam());
  const auto through = [&](std::string_view point) {
    return train_through(config, 7, {{2, point, 5}}, kRanks - 1, /*is_in_step=*/true).weights;
  };
  const Weights begun = through(kForward.name);
  EXPECT_EQ(distance(through(kBackward.name), begun), 0);
  EXPECT_EQ(distance(through(kReduce.name), begun), 0);
}

INSTANTIATE_TEST_SUITE_P(
    All, ElasticKind,
    ::testing::Values(Kind{{"sync.kind=local", "sync.steps=2"}, 5},
                      Kind{{"sync.kind=diloco", "sync.steps=2", "sync.codec.kind=int8"}, 5},
                      Kind{{"sync.kind=diloco", "sync.steps=2", "sync.fragments=2"}, 9},
                      Kind{{"sync.kind=diloco", "sync.steps=2", "sync.overlap=1"}, 5},
                      Kind{{"sync.kind=diloco", "sync.steps=3", "sync.fragments=2",
                            "sync.overlap=2", "sync.codec.kind=int8"},
                           6},
                      Kind{{"sync.kind=gossip", "sync.steps=2", "sync.overlap=1"}, 5},
                      Kind{{"sync.kind=gossip"}, 8}, Kind{{"sync.kind=delayed"}, 0},
                      Kind{{"sync.kind=delayed", "sync.codec.kind=int8"}, 0},
                      Kind{{"sync.kind=post_local", "sync.begin=3", "sync.steps=2"}, 3}),
    [](const auto& of) {
      std::string name;
      for (const std::string& word : of.param.words) {
        if (!name.empty()) name += '_';
        for (const char letter : word.substr(word.find('.') + 1)) {
          name += std::isalnum(static_cast<unsigned char>(letter)) != 0 ? letter : '_';
        }
      }
      return name;
    });

}  // namespace
}  // namespace trireme::train
