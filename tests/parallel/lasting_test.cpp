// Goal:   a rank may die at any point of a step, and another while the first is being got over: the
//         step ends for all or for none, and the weights are those of an undisturbed run, bit for
//         bit with virtual ranks. A rank that comes later has the state of the others.
// Method: ranks are threads over one arena. A fault point makes a rank throw and never come back;
//         its peers' groups are aborted, as a failure detector would do. Survivors meet at a
//         barrier of the test, which stands for the agreement on who lives.

#include "trireme/parallel/lasting.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <mutex>
#include <set>

#include "tests/comm/tcp_ranks.h"
#include "tests/train/tiny_job.h"
#include "trireme/parallel/data/data_parallel.h"
#include "trireme/parallel/data/ledger.h"
#include "trireme/train/slots.h"

namespace trireme::train {
namespace {

constexpr int kRanks = 4;

struct Dead {};  // thrown where a rank dies

// Who lives, and how those who do come together again.
class Fates {
 public:
  explicit Fates(std::vector<comm::Group> roots) : roots_(std::move(roots)) {
    for (int rank = 0; rank < kRanks; ++rank) living_.insert(rank);
  }

  const comm::Group& root(int place) const { return roots_[static_cast<std::size_t>(place)]; }

  void adopt(int place, const comm::Group& group, const std::vector<int>& members) {
    const std::lock_guard lock(mutex_);
    groups_.insert_or_assign(place, group);
    for (const int member : members) {
      if (!living_.contains(member)) group.abort(Error(ErrorCode::PeerLost, "it died meanwhile"));
    }
  }
  void die(int place) {
    const std::lock_guard lock(mutex_);
    living_.erase(place);
    stopped_.erase(place);
    for (const auto& [other, group] : groups_) {
      if (other != place) group.abort(Error(ErrorCode::PeerLost, "somebody died"));
    }
    changed_.notify_all();
  }
  // A dead process waits for nothing.
  void bury(int place) {
    const std::lock_guard lock(mutex_);
    groups_.at(place).abort(Error(ErrorCode::PeerLost, "it is dead"));
  }
  // All who live have stopped: says who they are, and what they said.
  std::vector<int> meet(int place, const parallel::Prepared& mine,
                        std::vector<parallel::Prepared>& told) {
    std::unique_lock lock(mutex_);
    stopped_.insert(place);
    said_[place] = mine;
    changed_.notify_all();
    const std::int64_t round = round_;
    changed_.wait(lock, [&] { return round_ != round || stopped_ == living_; });
    if (round_ == round) {
      met_.assign(living_.begin(), living_.end());
      stopped_.clear();
      ++round_;
      heard_.clear();
      for (const int living : met_) heard_.push_back(said_.at(living));
      changed_.notify_all();
    }
    told = heard_;
    return met_;
  }

 private:
  std::vector<comm::Group> roots_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<int> living_, stopped_;
  std::map<int, comm::Group> groups_;
  std::vector<int> met_;
  std::map<int, parallel::Prepared> said_;  // by place
  std::vector<parallel::Prepared> heard_;   // by those who met last
  std::int64_t round_ = 0;
};

// A place dies when it passes a point for the n-th time.
struct Death {
  int place = 0;
  std::string_view point;
  int times = 1;
};

class Executioner final : public Faults {
 public:
  Executioner(Fates& fates, int place, std::vector<Death> deaths)
      : fates_(fates), place_(place), deaths_(std::move(deaths)) {}
  void reached(FaultPoint point, int) override {
    for (Death& death : deaths_) {
      if (death.place != place_ || death.point != point.name || --death.times != 0) continue;
      fates_.die(place_);
      throw Dead();
    }
  }

 private:
  Fates& fates_;
  int place_;
  std::vector<Death> deaths_;
};

inline constexpr FaultPoint kSlotEnded{"test.slot"};

// One rank's life: it trains, and goes on whoever dies.
class Rank {
 public:
  Rank(Fates& fates, int place, const config::Config& config, const std::vector<Death>& deaths,
       bool is_spread)
      : fates_(fates),
        place_(place),
        executioner_(fates, place, deaths),
        config_(config),
        is_spread_(is_spread) {}

  Trained run(int steps) {
    job_ = std::make_unique<Job>(
        open_job(config_, tiny_kinds(), comm::Group::solo(),
                 {.is_lasting = true, .is_spread = is_spread_, .faults = &executioner_}));
    enter({0, 1, 2, 3});
    lasting().survive(group_, places_);
    job_->group = group_;
    bool is_met = false;
    for (step_ = 0; step_ < steps;) {
      try {
        // Where somebody dies meanwhile, recover() does it.
        if (!std::exchange(is_met, true)) {
          lasting().regroup(false);
          deal(job_->fair_owners());
        }
        const Outcome outcome = job_->step->run(
            {.step = step_, .updates = step_, .is_repeated = is_repeated_, .is_kept = is_kept_});
        losses_[step_] = outcome.loss;
        reach(&executioner_, kSlotEnded, place_);
        advance();
      } catch (const Error& error) {
        if (error.code() != ErrorCode::PeerLost) throw;
        while (!recover()) {
        }
      }
    }
    while (true) {
      try {
        job_->agreement().settle();
        Trained trained{.weights = weights_of(*job_->model), .losses = {}};
        group_.barrier().wait();
        for (const auto& [step, loss] : losses_) trained.losses.push_back(loss);
        return trained;
      } catch (const Error& error) {
        if (error.code() != ErrorCode::PeerLost) throw;
        while (!recover()) {
        }
      }
    }
  }

 private:
  parallel::Lasting& lasting() { return dynamic_cast<parallel::Lasting&>(job_->agreement()); }

  void advance() {
    ++step_;
    if (is_repeated_) deal(job_->fair_owners());
    is_repeated_ = false;
  }

  void enter(std::vector<int> living) {
    places_ = std::move(living);
    group_ = fates_.root(place_).subgroup(places_);
    fates_.adopt(place_, group_, places_);
  }

  // False where another one died meanwhile.
  bool recover() {
    enter(fates_.meet(place_, lasting().standing().prepared, told_));
    try {
      job_->group = group_;
      lasting().survive(group_, places_);
      resolve();
      return true;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::PeerLost) throw;
      return false;
    }
  }

  // Forward where anybody had prepared the furthest step, else back.
  void resolve() {
    const parallel::Standing mine = lasting().standing();
    std::int64_t most = mine.step;
    group_.all_reduce({&most, 1, comm::DType::Int64}, comm::ReduceOp::Max).wait();
    const auto all = mine.step >= 0 ? lasting().recall(mine.step, told_) : std::nullopt;
    std::int64_t prepared = all && mine.step == most ? 1 : 0;
    group_.all_reduce({&prepared, 1, comm::DType::Int64}, comm::ReduceOp::Max).wait();
    const bool is_finished = mine.phase == parallel::Standing::Phase::Finished;
    if (!is_finished && (mine.step < most || prepared > 0)) {
      ASSERT_TRUE(all) << "somebody prepared, and this rank does not know";
      losses_[step_] = job_->step->finish(*all).loss;
      advance();
    } else if (is_finished && prepared > 0) {
      lasting().finish_orphans();
    }
    if (prepared > 0) {
      is_repeated_ = false;
      rewind();
      deal(job_->fair_owners());
    } else {
      repeat();
    }
    // Nobody passes before all have dealt.
    lasting().regroup(false);
  }

  void rewind() {
    job_->loader().seek(data::Position{});
    for (std::int64_t i = 0; i < step_; ++i) job_->loader().next();
  }

  void deal(const std::vector<int>& owners) {
    job_->deal(owners);
    dealt_to_ = places_;
  }

  // Not all have come equally far with dealing: what rank 0 says counts.
  void repeat() {
    is_repeated_ = true;
    rewind();
    is_kept_ = lasting().keeps_slots() && !dealt_to_.empty();
    std::vector<int> owners = job_->fair_owners();
    if (is_kept_) {
      const int pieces = job_->train().virtual_ranks > 0 ? 1 : group_.size();
      owners = redeal_slots(cut_slots(job_->step->parts().slot_owners, pieces), dealt_to_, places_);
    }
    std::int64_t said[2] = {is_kept_ ? 1 : 0, static_cast<std::int64_t>(owners.size())};
    group_.broadcast({said, 2, comm::DType::Int64}, 0).wait();
    is_kept_ = said[0] != 0;
    owners.resize(static_cast<std::size_t>(said[1]));
    group_.broadcast({owners.data(), owners.size(), comm::DType::Int32}, 0).wait();
    deal(owners);
  }

  Fates& fates_;
  int place_;
  Executioner executioner_;
  config::Config config_;
  bool is_spread_;
  std::vector<parallel::Prepared> told_;
  comm::Group group_ = comm::Group::solo();
  std::vector<int> places_;
  std::vector<int> dealt_to_;  // places, by rank
  std::unique_ptr<Job> job_;
  std::int64_t step_ = 0;
  bool is_repeated_ = false;
  bool is_kept_ = false;
  std::map<std::int64_t, double> losses_;  // by step
};

// What survivors have in the end, who must agree.
Trained one_of(const std::vector<std::optional<Trained>>& all, std::size_t survivors) {
  Trained first;
  std::size_t living = 0;
  for (const auto& one : all) {
    if (!one) continue;
    ++living;
    if (first.weights.empty()) first = *one;
    EXPECT_EQ(distance(one->weights, first.weights), 0) << "survivors differ";
    EXPECT_EQ(one->losses, first.losses) << "survivors differ";
  }
  EXPECT_EQ(living, survivors);
  return first;
}

// A rank's life up to its end or its death.
std::optional<Trained> live(Fates& fates, Rank& rank, int place, int steps) {
  try {
    return rank.run(steps);
  } catch (const Dead&) {
    fates.bury(place);
    return std::nullopt;
  }
}

Trained train_through(const config::Config& config, int steps, const std::vector<Death>& deaths,
                      std::size_t survivors) {
  at::set_num_threads(1);
  Fates fates(comm::connect_threads(kRanks, {.timeout = std::chrono::seconds(30)}));
  std::vector<std::optional<Trained>> all(kRanks);
  std::vector<std::unique_ptr<Rank>> ranks;  // what the dead held stays, as in an arena
  for (int place = 0; place < kRanks; ++place) {
    ranks.push_back(std::make_unique<Rank>(fates, place, config, deaths, false));
  }
  testing::run_rank_threads(kRanks, [&](int place) {
    const auto i = static_cast<std::size_t>(place);
    all[i] = live(fates, *ranks[i], place, steps);
  });
  return one_of(all, survivors);
}

// Over TCP: nobody has anything of the dead.
Trained train_through_apart(const config::Config& config, int steps,
                            const std::vector<Death>& deaths, std::size_t survivors) {
  at::set_num_threads(1);
  std::vector<comm::Group> roots(kRanks, comm::Group::solo());
  std::optional<Fates> fates;
  std::vector<std::optional<Trained>> all(kRanks);
  std::barrier all_there(kRanks, [&]() noexcept { fates.emplace(roots); });
  comm::run_tcp_ranks({.count = kRanks}, [&](const comm::Group& root) {
    const int place = root.rank();
    roots[static_cast<std::size_t>(place)] = root;
    all_there.arrive_and_wait();
    Rank rank(*fates, place, config, deaths, true);
    all[static_cast<std::size_t>(place)] = live(*fates, rank, place, steps);
    root.barrier().wait();
  });
  return one_of(all, survivors);
}

struct Moment {
  const char* name;
  std::vector<Death> deaths;
  std::size_t survivors = kRanks - 1;
};

std::vector<Moment> moments() {
  const std::string_view prepared = parallel::data::kPrepared.name;
  const std::string_view updating = parallel::data::kUpdating.name;
  return {
      {"nobody", {}, kRanks},
      {"prepared", {{1, prepared, 3}}},
      {"forward", {{1, kForward.name, 4}}},
      {"forward_at_once", {{2, kForward.name, 1}}},
      {"backward", {{0, kBackward.name, 5}}},
      {"before_reduce", {{3, kReduce.name, 3}}},
      {"next_step_begun", {{0, kForward.name, 3}}},
      {"one_after_another", {{3, kReduce.name, 2}, {0, kForward.name, 4}}, 2},
      {"prepared_first", {{0, prepared, 2}}},
      {"updating", {{2, updating, 5}}},
      {"updating_last", {{3, updating, 4}}},
      {"between_steps", {{0, kSlotEnded.name, 3}}},
      {"two_updating", {{1, updating, 4}, {2, updating, 4}}, 2},
      {"heir_too", {{1, updating, 4}, {0, updating, 6}}, 2},
      {"three", {{1, prepared, 2}, {2, updating, 7}, {3, kSlotEnded.name, 4}}, 1},
  };
}

// What people are told of a step that was run again is of the whole batch, too. Losses of float32
// slots are added in the order of ranks: a few roundings.
void expect_near(const std::vector<double>& losses, const std::vector<double>& wanted) {
  ASSERT_EQ(losses.size(), wanted.size());
  for (std::size_t i = 0; i < losses.size(); ++i) EXPECT_NEAR(losses[i], wanted[i], 1e-5) << i;
}

class LastingOf : public ::testing::TestWithParam<std::string> {};

TEST_P(LastingOf, VirtualRanksEndsWithTheSameBits) {
  const config::Config config =
      tiny_config("mlp", {"sync.kind=" + GetParam(), "train.virtual_ranks=8", "train.steps=7"});
  const Trained undisturbed = train_threads(config, 1, 7);
  for (const Moment& moment : moments()) {
    SCOPED_TRACE(moment.name);
    const Trained through = train_through(config, 7, moment.deaths, moment.survivors);
    EXPECT_EQ(distance(through.weights, undisturbed.weights), 0);
    expect_near(through.losses, undisturbed.losses);
  }
}

TEST_P(LastingOf, OrdinarySumsEndsNearby) {
  const config::Config config = tiny_config("gpt64", {"sync.kind=" + GetParam(), "train.steps=7"});
  const Trained undisturbed = train_threads(config, 1, 7);
  for (const Moment& moment : moments()) {
    SCOPED_TRACE(moment.name);
    const Trained through = train_through(config, 7, moment.deaths, moment.survivors);
    EXPECT_LT(distance(through.weights, undisturbed.weights), 1e-10);
    expect_near(through.losses, undisturbed.losses);
  }
}

// Every model and precision, on any number of ranks, and through deaths.
TEST(LastingApart, OnSeveralHostsEndsAlike) {
  for (const std::string& slots : {std::string("train.virtual_ranks=6"), std::string()}) {
    Words words{"sync.kind=all_reduce"};
    if (!slots.empty()) words.push_back(slots);
    const config::Config config = tiny_config(slots.empty() ? "mlp64" : "mlp", words);
    const Trained undisturbed = train_threads(config, 1, 7);
    for (const Moment& moment : moments()) {
      SCOPED_TRACE(moment.name);
      const Trained through = train_through_apart(config, 7, moment.deaths, moment.survivors);
      const double far = distance(through.weights, undisturbed.weights);
      EXPECT_LE(far, slots.empty() ? 1e-10 : 0) << slots;
      expect_near(through.losses, undisturbed.losses);
    }
  }
}

TEST(LastingModels, EndWithTheSameBitsOnAnyNumberOfRanksAndThroughDeaths) {
  for (const char* model : {"cnn", "gpt"}) {
    for (const char* precision : {"float32", "bfloat16"}) {
      SCOPED_TRACE(std::string(model) + " " + precision);
      const config::Config config =
          tiny_config(model, {"sync.kind=shared", "train.virtual_ranks=4", "train.steps=5",
                              std::string("train.precision=") + precision, "optim.clip_norm=0.5"});
      const Trained alone = train_threads(config, 1, 5);
      for (int ranks = 2; ranks <= 4; ++ranks) {
        EXPECT_EQ(distance(train_threads(config, ranks, 5).weights, alone.weights), 0) << ranks;
      }
      for (const Moment& moment : moments()) {
        if (std::string_view("prepared backward updating").find(moment.name) ==
            std::string_view::npos) {
          continue;
        }
        SCOPED_TRACE(moment.name);
        const Trained through = train_through(config, 5, moment.deaths, moment.survivors);
        EXPECT_EQ(distance(through.weights, alone.weights), 0);
      }
    }
  }
}

// Its slice was cut after the last step, which nobody makes once more for it.
TEST(LastingNewcomer, WhoDiesBeforeItsFirstStepChangesNothing) {
  at::set_num_threads(1);
  const config::Config config = tiny_config("mlp", {"sync.kind=zero1", "train.virtual_ranks=4"});
  const std::vector<comm::Group> roots =
      comm::connect_threads(3, {.timeout = std::chrono::seconds(30)});
  std::vector<std::unique_ptr<Job>> jobs(roots.size());  // what the dead held stays
  testing::run_rank_threads(3, [&](int place) {
    const comm::Group& root = roots[static_cast<std::size_t>(place)];
    std::unique_ptr<Job>& job = jobs[static_cast<std::size_t>(place)];
    job = std::make_unique<Job>(
        open_job(config, tiny_kinds(), comm::Group::solo(), {.is_lasting = true}));
    auto& lasting = dynamic_cast<parallel::Lasting&>(job->agreement());
    const auto meet = [&](const std::vector<int>& places, bool is_new) {
      job->group = root.subgroup(places);
      lasting.survive(job->group, places);
      lasting.finish_orphans();
      lasting.regroup(is_new);
      job->deal(job->fair_owners());
    };
    if (place < 2) meet({0, 1}, false);
    for (int step = 0; place < 2 && step < 2; ++step) {
      job->step->run({.step = step, .updates = step});
    }
    job->agreement().settle();
    const Weights before = place < 2 ? weights_of(*job->model) : Weights{};
    meet({0, 1, 2}, place == 2);
    if (place == 2) return;
    meet({0, 1}, false);
    job->agreement().settle();
    EXPECT_EQ(distance(weights_of(*job->model), before), 0);
  });
}

INSTANTIATE_TEST_SUITE_P(All, LastingOf,
                         ::testing::Values("all_reduce", "shared", "zero1", "zero2", "zero3"),
                         [](const auto& of) { return of.param; });

}  // namespace
}  // namespace trireme::train
