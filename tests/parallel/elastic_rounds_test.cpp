// Goal:   kinds that agree less often than every step outlive their ranks, too. A step and a round
//         end for all who live or for none of them; the mean is over those who are there; outer
//         weights and momentum go on; a newcomer begins with what all have.
// Method: ranks as threads, each pulled towards the number of its place by plain descent, against
//         the same in a few lines of arithmetic; and tiny jobs whose ranks die at every moment.

#include <gtest/gtest.h>

#include "tests/parallel/pulled_ranks.h"
#include "trireme/parallel/data/data_parallel.h"
#include "trireme/parallel/local/rounds.h"

namespace trireme::train {
namespace {

using parallel::SyncKind;
using parallel::data::kPrepared;
using parallel::local::kGathered;
using parallel::local::kLanded;
using parallel::local::kRoundOver;

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

// The same by hand: `there(step)` says how many places make the step, `meeting(step)` how many end
// a round with it.
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
    anchor -= script.pace.outer_rate * (moved + script.pace.outer_momentum * momentum);
    // What it has moved meanwhile stays on top.
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
  return {
      {.kind = SyncKind::Local, .pace = {.steps = 2}},
      {.kind = SyncKind::Diloco, .pace = {.steps = 2, .outer_rate = 0.7, .outer_momentum = 0.9}}};
}

// The round goes on with the others, and its mean is of those.
TEST(ElasticRounds, WhoDiesBeforeTheMeanIsNotInIt) {
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

// In the middle of a round: the step is made by those who live.
TEST(ElasticRounds, WhoDiesInARoundTakesItsProgressAlong) {
  for (Script script : scripts()) {
    script.point = parallel::data::kUpdating.name;
    script.times = 3;  // in step 2, the first of its round
    script.steps = 4;
    const auto paths = played(script);
    // Whether step 2 was made by three or by two is a matter of who heard first; each replica moves
    // by its own pull in either case.
    const auto wanted = by_hand(
        script, [](auto step) { return step < 2 ? 3 : 2; },
        [](auto step) { return step < 2 ? 3 : 2; });
    for (std::size_t place = 0; place < 2; ++place) {
      EXPECT_NEAR(paths[place].at(3), wanted[3][place], 1e-12);
    }
  }
}

// Either all who live have the mean of three or all that of two, and the same weights in any case.
TEST(ElasticRounds, WhoDiesWithTheMeanInItsHandsLeavesTheOthersAlike) {
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

// Rounds end with steps 2 and 5, and are brought together two steps later.
Script overlapped() {
  return {.kind = SyncKind::Diloco,
          .pace = {.steps = 3, .outer_rate = 0.7, .outer_momentum = 0.9, .overlap = 2},
          .steps = 9};
}

TEST(ElasticRounds, WhatIsOnItsWayGoesOnWithoutTheDead) {
  const auto before = [](std::int64_t last) {
    return [last](std::int64_t step) { return step <= last ? 3 : 2; };
  };
  struct Case {
    std::string_view point;
    int times;
    std::int64_t last;  // step that it makes
  };
  // While it travels; before it lands; and in a step in which another one has departed.
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

// With what all have come to in its hands: it has landed for all or for none.
TEST(ElasticRounds, WhatArrivesLandsForAllOrForNone) {
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

TEST(ElasticRounds, ANewcomerMayComeWhileSomethingIsOnItsWay) {
  Script script = overlapped();
  script.joins = 4;
  const auto there = [](auto step) { return step < 4 ? 2 : 3; };
  expect_played(script, by_hand(script, there, there), 3);
}

// Who leaves has brought in what it has come to, and who comes does not count for two.
TEST(ElasticRounds, NothingIsOnItsWayWhenSomebodyComesOrLeaves) {
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

// Nor has it anything alone of a fragment whose turn was before the round's end.
TEST(ElasticRounds, WhoLeavesTakesNothingOfAnyFragmentAlong) {
  Script script{.kind = SyncKind::Diloco, .pace = {.steps = 4, .fragments = 2}, .steps = 5};
  script.is_told = true;
  script.leaves = 4;
  const auto paths = played(script);
  EXPECT_EQ(paths[0].at(3), paths[1].at(3));
  EXPECT_EQ(paths[0].at(3), paths[2].at(3));
  EXPECT_NE(paths[0].at(4), paths[1].at(4));
}

// It has the weights of all, and the momentum goes on.
TEST(ElasticRounds, ANewcomerBeginsWithWhatAllHave) {
  for (Script script : scripts()) {
    script.joins = 2;
    const auto there = [](auto step) { return step < 2 ? 2 : 3; };
    expect_played(script, by_hand(script, there, there), 3);
  }
}

// In the middle of one it begins with the first one's replica.
TEST(ElasticRounds, ANewcomerMayComeInTheMiddleOfARound) {
  for (Script script : scripts()) {
    script.joins = 3;
    const auto there = [](auto step) { return step < 3 ? 2 : 3; };
    expect_played(script, by_hand(script, there, there), 3);
  }
}

TEST(ElasticRounds, RefusesWhatCannotBeYet) {
  for (const Words& words : {Words{"sync.kind=local", "sync.slack=1"},
                             Words{"sync.kind=all_reduce", "sync.schedule=[\"3=hierarchical\"]"},
                             Words{"sync.kind=local", "sync.schedule=[\"3=all_reduce\"]"}}) {
    try {
      open_job(tiny_config("mlp", words), tiny_kinds(), comm::Group::solo(), {.is_elastic = true});
      ADD_FAILURE() << words[0] << " was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::InvalidInput) << words[0];
      EXPECT_NE(error.message().find("elastic"), std::string::npos) << error.message();
    }
  }
}

struct Ordeal {
  const char* name;
  std::vector<Death> deaths;
  std::size_t survivors = kRanks - 1;
};

std::vector<Ordeal> ordeals() {
  const std::string_view prepared = kPrepared.name;
  const std::string_view updating = parallel::data::kUpdating.name;
  return {{"nobody", {}, kRanks},
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
          {"while_another_is_got_over", {{1, kRoundOver.name, 1}, {2, kRoundOver.name, 2}}, 2},
          {"the_last", {{3, kGathered.name, 4}}},
          {"joining", {{1, kRoundOver.name, 4}}},
          {"three", {{1, prepared, 2}, {2, updating, 7}, {3, kMicroBatchEnded.name, 4}}, 1}};
}

// How often a job of seven steps brings replicas together, its end included.
struct Kind {
  Words words;
  int rounds = 0;
};

config::Config config_of(const Kind& kind) {
  Words words{"optim.kind=sgd", "optim.learning_rate=0.1", "train.steps=7"};
  words.insert(words.end(), kind.words.begin(), kind.words.end());
  return tiny_config("mlp", words);
}

bool can_come(const Ordeal& ordeal, const Kind& kind) {
  return std::none_of(ordeal.deaths.begin(), ordeal.deaths.end(), [&](const Death& death) {
    const bool is_of_round = death.point == kRoundOver.name || death.point == kGathered.name ||
                             death.point == kLanded.name;
    return is_of_round && death.times > kind.rounds;
  });
}

class ElasticKind : public ::testing::TestWithParam<Kind> {};

// Survivors are alike in the end, and have come about as far as an undisturbed job.
TEST_P(ElasticKind, IsGotOverAtEveryMoment) {
  const config::Config config = config_of(GetParam());
  const Weights first = train_through(config, 0, {}, kRanks).weights;
  const double way = distance(train_through(config, 7, {}, kRanks).weights, first);
  for (const Ordeal& ordeal : ordeals()) {
    if (!can_come(ordeal, GetParam())) continue;
    SCOPED_TRACE(ordeal.name);
    const Trained through = train_through(config, 7, ordeal.deaths, ordeal.survivors);
    EXPECT_GT(distance(through.weights, first), way / 3);
    EXPECT_LT(distance(through.weights, first), way * 3);
  }
}

// A step that was not made by all is run again, whatever had been done of it.
TEST_P(ElasticKind, RunsAStepAgainBitForBit) {
  // What late gradients come to depends on who has got them.
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
