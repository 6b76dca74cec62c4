// Goal:   `hierarchical` survives failures: a host's replica survives as long as one of its ranks,
//         the other hosts continue if a whole host is lost, hosts may have different numbers of
//         ranks, and a new rank gets the replica of its host, or of another host if it is the first
//         on its own.
// Method: ranks as threads with shared memory inside a host and TCP across hosts (pulled_ranks.h),
//         compared with a few lines of arithmetic; and tiny jobs whose ranks die at many different
//         moments.

#include <gtest/gtest.h>

#include "tests/parallel/pulled_ranks.h"
#include "trireme/parallel/data/data_parallel.h"
#include "trireme/parallel/local/rounds.h"

namespace trireme::train {
namespace {

using parallel::kPrepared;
using parallel::data::kUpdating;
using parallel::local::kGathered;
using parallel::local::kLanded;
using parallel::local::kRoundOver;

using PlaceList = std::vector<int>;
const PlaceList kAllPlaces{0, 1, 2, 3};
const std::vector<int> kTwoOfTwo{0, 0, 1, 1};

PlaceList others_than(int place) {
  PlaceList rest = kAllPlaces;
  std::erase(rest, place);
  return rest;
}

// The expected weights by step and place; 0 for a place that is not a member. `there(step)`: the
// places that run the step; `meeting(step)`: those that take part in what lands with it.
std::vector<std::vector<double>> hosts_by_hand(
    const Script& script, const std::function<PlaceList(std::int64_t)>& there,
    const std::function<PlaceList(std::int64_t)>& meeting) {
  std::map<int, double> w, sent;  // by host
  double anchor = kFirstWeight, momentum = 0;
  std::int64_t departed = -1;
  const auto living_hosts = [&](const PlaceList& places) {
    std::map<int, PlaceList> hosts;
    for (const int place : places) {
      hosts[script.hosts[static_cast<std::size_t>(place)]].push_back(place);
    }
    return hosts;
  };
  const auto keep = [](std::map<int, double>& of, const std::map<int, PlaceList>& hosts) {
    std::erase_if(of, [&](const auto& one) { return !hosts.contains(one.first); });
  };
  const auto land = [&](std::int64_t step) {
    const auto hosts = living_hosts(meeting(step));
    keep(w, hosts);
    keep(sent, hosts);
    double mean = 0;
    for (const auto& [host, value] : sent) mean += value / static_cast<double>(sent.size());
    const double moved = anchor - mean;
    momentum = script.pace.outer_momentum * momentum + moved;
    anchor -= script.pace.outer_lr * (moved + script.pace.outer_momentum * momentum);
    for (auto& [host, value] : w) value += anchor - sent.at(host);
    departed = -1;
  };
  std::vector<std::vector<double>> path;
  for (std::int64_t step = 0; step < script.steps; ++step) {
    const auto hosts = living_hosts(there(step));
    keep(w, hosts);
    const double first = w.empty() ? kFirstWeight : w.begin()->second;
    for (const auto& [host, places] : hosts) {
      double target = 0;
      for (const int place : places) target += place / static_cast<double>(places.size());
      double& own = w.emplace(host, first).first->second;
      if (departed >= 0) sent.emplace(host, sent.begin()->second);
      own -= kPullRate * (own - target);
    }
    if (departed >= 0 && step - departed >= script.pace.overlap) land(step);
    if ((step + 1) % script.pace.steps == 0) {
      sent = w;
      departed = step;
      if (script.pace.overlap == 0) land(step);
    }
    path.emplace_back(kAllPlaces.size());
    for (const int place : kAllPlaces) {
      const auto found = w.find(script.hosts[static_cast<std::size_t>(place)]);
      if (found != w.end()) path.back()[static_cast<std::size_t>(place)] = found->second;
    }
  }
  return path;
}

// Sums over ranks and hosts are of a few numbers around 1 in float64.
constexpr double kPullNear = 1e-12;

bool are_near(const std::vector<std::map<std::int64_t, double>>& found,
              const std::vector<std::vector<double>>& wanted, const PlaceList& living) {
  for (const int place : living) {
    const auto& path = found[static_cast<std::size_t>(place)];
    if (path.count(static_cast<std::int64_t>(wanted.size()) - 1) == 0) return false;
    for (const auto& [step, weight] : path) {
      const double own = wanted[static_cast<std::size_t>(step)][static_cast<std::size_t>(place)];
      if (std::abs(weight - own) > kPullNear) return false;
    }
  }
  return true;
}

std::vector<Script> host_scripts() {
  Script plain{
      .kind = "hierarchical", .pace = {.steps = 2}, .steps = 7, .places = 4, .hosts = kTwoOfTwo};
  Script outer = plain;
  outer.pace = {.steps = 2, .outer_lr = 0.7, .outer_momentum = 0.9};
  Script overlapped = plain;
  overlapped.pace = {.steps = 3, .outer_lr = 0.7, .outer_momentum = 0.9, .overlap = 2};
  return {plain, outer, overlapped};
}

TEST(ElasticHostsSync, WithoutFailuresThereAreTwoReplicas) {
  for (const Script& script : host_scripts()) {
    const auto all = [](auto) { return kAllPlaces; };
    EXPECT_TRUE(are_near(played(script), hosts_by_hand(script, all, all), kAllPlaces));
  }
}

// A rank dies in step s. The step was completed by all ranks or by the others, and so was the round
// that ends with it; all live ranks must have taken the same one of these ways.
void expect_recovery(Script script, std::int64_t s) {
  const auto found = played(script);
  const PlaceList rest = others_than(script.dies);
  int ways = 0;
  for (const PlaceList& making : {kAllPlaces, rest}) {
    for (const PlaceList& landing : {kAllPlaces, rest}) {
      const auto wanted = hosts_by_hand(
          script, [&](auto step) { return step < s    ? kAllPlaces
                                          : step == s ? making
                                                      : rest; },
          [&](auto step) { return step < s    ? kAllPlaces
                                  : step == s ? landing
                                              : rest; });
      if (are_near(found, wanted, rest)) ++ways;
    }
  }
  EXPECT_GT(ways, 0) << script.point << " " << script.times << ", place " << script.dies;
}

// Both the leader of a host and another rank die.
TEST(ElasticHostsSync, AHostContinuesWithItsRemainingRanks) {
  for (Script script : host_scripts()) {
    for (script.dies = 0; script.dies < 4; ++script.dies) {
      // A step reaches kPrepared twice: inside the host, and for all ranks.
      for (const int times : {5, 6, 9, 10}) {
        script.point = kPrepared.name;
        script.times = times;
        expect_recovery(script, (times - 1) / 2);
      }
      // Before its own update, and in the middle of it. The ranks of its host read from its ledger
      // page that the step was prepared, even if no other rank knows.
      for (const int times : {5, 6}) {
        script.point = kUpdating.name;
        script.times = times;
        for (const bool is_silent : {false, true}) {
          script.is_silent = is_silent;
          expect_recovery(script, 2);
        }
        script.is_silent = false;
      }
    }
  }
}

TEST(ElasticHostsSync, ARoundCompletesOnAllRanksOrOnNone) {
  for (Script script : host_scripts()) {
    const std::int64_t first = script.pace.steps + script.pace.overlap - 1;
    for (script.dies = 0; script.dies < 4; ++script.dies) {
      for (const auto& point : {kRoundOver.name, kGathered.name, kLanded.name}) {
        for (script.times = 1; script.times <= 2; ++script.times) {
          const std::int64_t step = first + (script.times - 1) * script.pace.steps;
          script.point = point;
          Script one = script;
          one.steps = static_cast<int>(step) + 3;
          expect_recovery(one, step);
        }
      }
    }
  }
}

// Place 3 is the only rank of its host.
TEST(ElasticHostsSync, OtherHostsContinueWithoutAFailedHost) {
  for (Script script : host_scripts()) {
    script.hosts = {0, 0, 0, 1};
    script.dies = 3;
    for (const auto& point : {kPrepared.name, kUpdating.name, kGathered.name}) {
      script.point = point;
      script.times = point == kPrepared.name ? 10 : point == kUpdating.name ? 8 : 1;
      const std::int64_t first = script.pace.steps + script.pace.overlap - 1;
      expect_recovery(script, point == kPrepared.name ? 4 : point == kUpdating.name ? 3 : first);
    }
  }
}

TEST(ElasticHostsSync, ANewRankGetsTheReplicaOfItsHost) {
  for (Script script : host_scripts()) {
    for (const std::vector<int>& hosts : {kTwoOfTwo, {0, 0, 0, 1}, {0, 1, 2, 2}}) {
      for (const std::int64_t joins : {2, 3, 4}) {
        script.hosts = hosts;
        script.joins = joins;
        const auto there = [&](auto step) { return step < joins ? others_than(3) : kAllPlaces; };
        EXPECT_TRUE(are_near(played(script), hosts_by_hand(script, there, there), kAllPlaces))
            << hosts[2] << hosts[3] << " " << joins;
      }
    }
  }
}

// On one host there is one copy of the model for all ranks, as with `shared`, and settings of
// rounds and codecs have no effect. After a death micro-batches are divided differently in each
// run, so float64 sums differ by rounding.
TEST(ElasticHostsSync, OneHostEqualsShared) {
  const auto far = [](const std::string& model, const std::vector<Death>& deaths, Words how) {
    const auto through = [&](const Words& words) {
      return train_through(tiny_config(model, words), 7, deaths, kRanks - deaths.size()).weights;
    };
    how.emplace_back("sync.kind=hierarchical");
    return distance(through(how), through({"sync.kind=shared"}));
  };
  const Words rounds{"sync.steps=2", "sync.overlap=1"};
  EXPECT_EQ(far("mlp", {}, {"sync.steps=2", "sync.codec.kind=sign"}), 0);
  EXPECT_EQ(far("mlp", {}, {"sync.across=gradients", "sync.codec.kind=sign"}), 0);
  EXPECT_LT(far("mlp64", {{2, kForward.name, 5}}, rounds), 1e-10);
  EXPECT_LT(far("mlp64", {{0, kUpdating.name, 3}}, rounds), 1e-10);
}

struct HostFailureCase {
  const char* name;
  std::vector<Death> deaths;
  std::size_t survivors = kRanks - 1;
};

// Places 0 and 1 are on one host, places 2 and 3 on the other.
std::vector<HostFailureCase> host_failure_cases() {
  const std::string_view prepared = kPrepared.name, updating = kUpdating.name;
  return {{"no_failure", {}, kRanks},
          {"forward_at_once", {{2, kForward.name, 1}}},
          {"backward", {{0, kBackward.name, 5}}},
          {"before_reduce", {{3, kReduce.name, 3}}},
          {"prepared_inside", {{0, prepared, 3}}},
          {"prepared", {{0, prepared, 4}}},
          {"updating", {{2, updating, 4}}},
          {"between_steps", {{0, kMicroBatchEnded.name, 3}}},
          {"round_over", {{1, kRoundOver.name, 1}}},
          {"gathered", {{0, kGathered.name, 2}}},
          {"landed", {{2, kLanded.name, 1}}},
          {"one_of_each", {{0, kRoundOver.name, 2}, {3, kGathered.name, 2}}, 2},
          {"a_host", {{2, prepared, 6}, {3, prepared, 6}}, 2},
          {"a_host_in_a_round", {{0, kGathered.name, 1}, {1, kGathered.name, 1}}, 2},
          {"during_recovery", {{1, kRoundOver.name, 1}, {2, kRoundOver.name, 2}}, 2},
          {"joining", {{1, kRoundOver.name, 4}}},
          {"three", {{1, prepared, 4}, {2, updating, 9}, {3, kMicroBatchEnded.name, 4}}, 1}};
}

class ElasticHostsOf : public ::testing::TestWithParam<Words> {
 protected:
  static config::Config config() {
    Words words{"sync.kind=hierarchical", "optim.kind=sgd", "optim.lr=0.1", "train.steps=7"};
    words.insert(words.end(), GetParam().begin(), GetParam().end());
    return tiny_config("mlp", words);
  }
};

// Survivors end with equal weights, about as far from the start as a job without failures.
TEST_P(ElasticHostsOf, SurvivesAFailureAtEveryMoment) {
  const auto through = [&](const HostFailureCase& failure, int steps) {
    return train_through(config(), steps, failure.deaths, failure.survivors, false, kTwoOfTwo)
        .weights;
  };
  const Weights first = through({"", {}, kRanks}, 0);
  const double way = distance(through({"", {}, kRanks}, 7), first);
  for (const HostFailureCase& failure : host_failure_cases()) {
    SCOPED_TRACE(failure.name);
    const double gone = distance(through(failure, 7), first);
    EXPECT_GT(gone, way / 3);
    EXPECT_LT(gone, way * 3);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, ElasticHostsOf,
    ::testing::Values(Words{"sync.steps=2"},
                      Words{"sync.steps=2", "sync.outer_lr=0.7", "sync.outer_momentum=0.9",
                            "sync.codec.kind=int8"},
                      Words{"sync.steps=3", "sync.fragments=2", "sync.overlap=2"}),
    [](const auto& of) {
      return of.param.size() == 1 ? "plain" : of.param.size() == 4 ? "outer_int8" : "overlapped";
    });

}  // namespace
}  // namespace trireme::train
