// Ranks for tests with failures: threads, over one arena or over TCP, that train a tiny job and
// continue when other ranks die.
//
// At a fault point a rank throws and never returns; the groups of its peers are aborted, as a
// failure detector would do. Survivors meet at a barrier of the test, which takes the place of the
// membership protocol.

#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <mutex>
#include <set>
#include <thread>

#include "tests/comm/host_threads.h"
#include "tests/comm/tcp_ranks.h"
#include "tests/train/trainer_fixture.h"
#include "trireme/base/deadline.h"
#include "trireme/parallel/elastic_sync.h"
#include "trireme/train/balance/micro_batches.h"

namespace trireme::train {

inline constexpr int kRanks = 4;

struct Dead {};  // thrown when a rank dies

// Records which ranks are alive, and lets them meet again after a death.
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
      if (!living_.contains(member)) group.abort(Error(ErrorCode::PeerLost, "a member died"));
    }
  }
  void die(int place) {
    const std::lock_guard lock(mutex_);
    living_.erase(place);
    stopped_.erase(place);
    for (const auto& [other, group] : groups_) {
      if (other != place) group.abort(Error(ErrorCode::PeerLost, "a rank died"));
    }
    changed_.notify_all();
  }
  void count_pass() { ++passes_; }
  int passes() const { return passes_; }
  void count_reduce() { ++reduces_; }
  void wait_for_reduces(int count) const {
    const Deadline deadline = Deadline::after(std::chrono::seconds(30));
    while (reduces_ < count && !deadline.is_past()) std::this_thread::yield();
    EXPECT_GE(reduces_, count);
  }
  // Aborts the dead rank's own group, because a dead process does not wait for anything.
  void bury(int place) {
    const std::lock_guard lock(mutex_);
    groups_.at(place).abort(Error(ErrorCode::PeerLost, "this rank is dead"));
  }
  // Waits until all live ranks have stopped. Returns their places, and in `told` their reports.
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
  std::vector<parallel::Prepared> heard_;   // the reports of the ranks that met last
  std::int64_t round_ = 0;
  std::atomic<int> passes_ = 0;  // forward passes of all ranks
  std::atomic<int> reduces_ = 0;
};

// The rank at a place dies when it reaches a fault point for the n-th time, or is late there.
struct Death {
  int place = 0;
  std::string_view point;
  int times = 1;
  int reduces = 0;  // and not before all ranks together have reached kReduce this often
  std::chrono::milliseconds delay{};
  bool is_late = false;  // it does not die
};

class Executioner final : public Faults {
 public:
  Executioner(Fates& fates, int place, std::vector<Death> deaths)
      : fates_(fates), place_(place), deaths_(std::move(deaths)) {}
  void reached(FaultPoint point, int) override {
    if (point == kForward) fates_.count_pass();
    if (point == kReduce) fates_.count_reduce();
    for (Death& death : deaths_) {
      if (death.place != place_ || death.point != point.name || --death.times != 0) continue;
      fates_.wait_for_reduces(death.reduces);
      std::this_thread::sleep_for(death.delay);
      if (death.is_late) continue;
      fates_.die(place_);
      throw Dead();
    }
  }

 private:
  Fates& fates_;
  int place_;
  std::vector<Death> deaths_;
};

inline constexpr FaultPoint kMicroBatchEnded{"test.micro_batch"};

// One rank, which trains and continues when other ranks die.
class Rank {
 public:
  Rank(Fates& fates, int place, const config::Config& config, const std::vector<Death>& deaths,
       bool is_spread, Kinds kinds = poisoned_kinds())
      : fates_(fates),
        place_(place),
        executioner_(fates, place, deaths),
        config_(config),
        is_spread_(is_spread),
        kinds_(std::move(kinds)) {}

  Trained run(int steps, bool is_in_step = false) {
    job_ = std::make_unique<Job>(
        open_job(config_, kinds_, comm::Group::solo(),
                 {.is_elastic = true, .is_spread = is_spread_, .faults = &executioner_}));
    enter({0, 1, 2, 3});
    elastic().survive(group_, places_);
    job_->regroup(group_);
    bool is_met = false;
    for (step_ = 0; step_ < steps;) {
      try {
        // If a rank dies meanwhile, recover() regroups instead.
        if (!std::exchange(is_met, true)) {
          elastic().regroup(false);
          assign(job_->fair_owners());
        }
        // No rank begins a step before all ranks have ended the last one.
        if (is_in_step) group_.barrier().wait();
        const Outcome outcome =
            job_->step->run({.step = step_,
                             .updates = step_,
                             .is_repeated = is_repeated_,
                             .kept_assignment = static_cast<std::uint64_t>(kept_assignment_)});
        losses_[step_] = outcome.loss;
        note(outcome);
        reach(&executioner_, kMicroBatchEnded, place_);
        advance();
      } catch (const Error& error) {
        if (error.code() != ErrorCode::PeerLost) throw;
        while (!recover()) {
        }
      }
    }
    while (true) {
      try {
        job_->gradient_sync().model().join();
        job_->gradient_sync().model().settle();
        // Each replica has its own losses, so they cannot be compared.
        if (job_->gradient_sync().saved().has_replicas()) losses_.clear();
        Trained trained{.weights = weights_of(*job_->model), .losses = {}};
        trained.left_out = left_out_;
        const std::vector<at::Tensor> buffers = job_->model->buffers();
        if (!buffers.empty()) trained.counted = buffers[0].flatten()[0].item<double>();
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
  parallel::ElasticSync& elastic() {
    return dynamic_cast<parallel::ElasticSync&>(job_->gradient_sync());
  }

  parallel::StepCommit& commit() { return job_->gradient_sync().commit(); }

  void note(const Outcome& outcome) {
    left_out_ += static_cast<int>(outcome.left_out.size());
    returned_ = job_->step->work().returned();
  }

  void advance() {
    ++step_;
    if (is_repeated_) assign(job_->fair_owners());
    is_repeated_ = false;
  }

  void enter(std::vector<int> living) {
    places_ = std::move(living);
    group_ = fates_.root(place_).subgroup(places_);
    fates_.adopt(place_, group_, places_);
  }

  // False if another rank died meanwhile.
  bool recover() {
    enter(fates_.meet(place_, commit().status().prepared, told_));
    try {
      job_->regroup(group_);
      elastic().survive(group_, places_);
      resolve();
      return true;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::PeerLost) throw;
      return false;
    }
  }

  // Completes the latest step if any rank had prepared it; otherwise the step runs again.
  void resolve() {
    const parallel::StepStatus mine = commit().status();
    std::int64_t most = mine.step;
    group_.all_reduce({&most, 1, comm::DType::Int64}, comm::ReduceOp::Max).wait();
    const auto all = commit().recall(mine.step, told_);
    std::int64_t prepared = all && mine.step == most ? 1 : 0;
    group_.all_reduce({&prepared, 1, comm::DType::Int64}, comm::ReduceOp::Max).wait();
    const bool is_finished = mine.phase == parallel::StepStatus::Phase::Finished;
    if (!is_finished && (mine.step < most || prepared > 0)) {
      ASSERT_TRUE(all) << "a rank prepared the step, but this rank has no figures of it";
      const Outcome outcome = job_->step->finish(*all);
      losses_[step_] = outcome.loss;
      note(outcome);
      advance();
    } else if (is_finished && (mine.step < most || prepared > 0)) {
      // Other hosts may be in the next step already.
      elastic().finish_failed_ranks();
    }
    if (prepared > 0) {
      is_repeated_ = false;
      rewind();
      assign(job_->fair_owners());
    } else {
      repeat();
    }
    // No rank continues before all ranks have assigned micro-batches.
    elastic().regroup(false);
  }

  void rewind() {
    job_->loader().seek(data::Position{});
    for (std::int64_t i = 0; i < step_; ++i) job_->loader().next();
    job_->step->work().set_returned(returned_);
  }

  void assign(const std::vector<int>& owners) {
    job_->assign(owners);
    assigned_to_ = places_;
  }

  // Ranks may have different assignments of micro-batches after a death; rank 0's counts.
  void repeat() {
    is_repeated_ = true;
    rewind();
    std::vector<int> owners = job_->fair_owners();
    kept_assignment_ = 0;
    if (elastic().keeps_micro_batches() && !assigned_to_.empty() && returned_.empty()) {
      kept_assignment_ = static_cast<std::int64_t>(job_->step->assignment());
      const int pieces = job_->has_fixed_micro_batches() ? 1 : group_.size();
      owners = reassign_micro_batches(
          split_micro_batches(job_->step->parts().micro_batch_owners, pieces), assigned_to_,
          places_);
    }
    std::int64_t said[2] = {kept_assignment_, static_cast<std::int64_t>(owners.size())};
    group_.broadcast({said, 2, comm::DType::Int64}, 0).wait();
    kept_assignment_ = said[0];
    owners.resize(static_cast<std::size_t>(said[1]));
    group_.broadcast({owners.data(), owners.size(), comm::DType::Int32}, 0).wait();
    assign(owners);
  }

  Fates& fates_;
  int place_;
  Executioner executioner_;
  config::Config config_;
  bool is_spread_;
  Kinds kinds_;
  std::vector<data::Returned> returned_;  // by steps that excluded late ranks
  int left_out_ = 0;                      // in all steps
  std::vector<parallel::Prepared> told_;
  comm::Group group_ = comm::Group::solo();
  std::vector<int> places_;
  std::vector<int> assigned_to_;  // places, by rank
  std::unique_ptr<Job> job_;
  std::int64_t step_ = 0;
  bool is_repeated_ = false;
  std::int64_t kept_assignment_ = 0;
  std::map<std::int64_t, double> losses_;  // by step
};

// The result of the survivors, which must all be equal.
inline Trained one_of(const std::vector<std::optional<Trained>>& all, std::size_t survivors) {
  Trained first;
  std::size_t living = 0;
  for (const auto& one : all) {
    if (!one) continue;
    ++living;
    if (first.weights.empty()) first = *one;
    EXPECT_EQ(distance(one->weights, first.weights), 0) << "survivors differ";
    const auto is_same = [](double a, double b) {
      return a == b || (std::isnan(a) && std::isnan(b));
    };
    EXPECT_TRUE(std::ranges::equal(one->losses, first.losses, is_same)) << "survivors differ";
  }
  EXPECT_EQ(living, survivors);
  return first;
}

// Runs a rank until the end of the job or its death.
inline std::optional<Trained> live(Fates& fates, Rank& rank, int place, int steps,
                                   bool is_in_step = false) {
  try {
    return rank.run(steps, is_in_step);
  } catch (const Dead&) {
    fates.bury(place);
    return std::nullopt;
  }
}

// Trains over one arena, or over one per host if `hosts` gives the host of each place.
inline Trained train_through(const config::Config& config, int steps,
                             const std::vector<Death>& deaths, std::size_t survivors,
                             bool is_in_step = false, const std::vector<int>& hosts = {},
                             const Kinds& kinds = poisoned_kinds()) {
  at::set_num_threads(1);
  Fates fates(hosts.empty() ? comm::connect_threads(kRanks, {.timeout = std::chrono::seconds(30)})
                            : comm::connect_hosts(hosts));
  std::vector<std::optional<Trained>> all(kRanks);
  std::vector<std::unique_ptr<Rank>> ranks;  // the memory of a failed rank stays, as in an arena
  for (int place = 0; place < kRanks; ++place) {
    ranks.push_back(std::make_unique<Rank>(fates, place, config, deaths, !hosts.empty(), kinds));
  }
  testing::run_rank_threads(kRanks, [&](int place) {
    const auto i = static_cast<std::size_t>(place);
    all[i] = live(fates, *ranks[i], place, steps, is_in_step);
  });
  Trained trained = one_of(all, survivors);
  trained.passes = fates.passes();
  return trained;
}

// Trains over TCP: survivors cannot read the memory of a failed rank.
inline Trained train_through_apart(const config::Config& config, int steps,
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

}  // namespace trireme::train
