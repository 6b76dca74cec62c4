// Ranks for tests of elastic strategies: each rank minimizes the distance of a weight to the number
// of its place with SGD, so that the result can be compared with a few lines of arithmetic. One
// rank may die at a fault point, and the last rank may join late or leave.

#pragma once

#include <torch/torch.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <string_view>
#include <vector>

#include "tests/parallel/mortal_ranks.h"
#include "trireme/optim/rule/sgd.h"
#include "trireme/parallel/kinds.h"

namespace trireme::train {

inline constexpr double kPullRate = 0.1;
inline constexpr double kFirstWeight = 5;

// Calls `spring` when a rank reaches a fault point for the n-th time.
struct Trap final : Faults {
  std::string_view point;
  int times = 0;
  std::function<void()> spring;
  void reached(FaultPoint at, int) override {
    if (at.name == point && --times == 0) spring();
  }
};

// In Prepared, of strategies whose replicas vote.
inline constexpr std::ptrdiff_t kVoteFigures = 5;

struct Script {
  std::string kind = "local";
  parallel::local::RoundSettings pace{};
  int steps = 6;
  // The rank at place `dies` dies when it reaches `point` for the n-th time.
  std::string_view point{};
  int times = 0;
  int places = 3;
  int dies = 2;
  std::vector<int> hosts{};  // by place; empty: all on one host
  bool is_silent = false;    // live ranks do not report the figures of a prepared step
  // The last place joins, or leaves, before this step.
  std::int64_t joins = -1;
  std::int64_t leaves = -1;
  bool is_told = false;  // the ranks know one step earlier that it will
};

// One rank, whose weight is pulled towards the number of its place.
class Pulled {
 public:
  Pulled(const Script& script, int place, const comm::Group& root, std::vector<comm::Group>& groups,
         std::mutex& mutex)
      : script_(script), place_(place), root_(root), groups_(groups), mutex_(mutex) {
    trap_.point = place == script.dies ? script.point : "";
    trap_.times = script.times;
    trap_.spring = [this] {
      const std::lock_guard lock(mutex_);
      for (const comm::Group& group : groups_) group.abort(Error(ErrorCode::PeerLost, "died"));
      throw Dead();
    };
    gradient_sync_ = parallel::make_gradient_sync(
        {.parameters = {{.name = "w", .tensor = weight_}},
         .optimizer = std::make_shared<optim::Sgd>(optim::SgdConfig{.momentum = 0}),
         .stretches = {{.kind = script.kind, .pace = script.pace}},
         .is_elastic = true,
         .is_spread = !script.hosts.empty(),
         .faults = &trap_});
  }

  // By step: the final weight after it.
  std::map<std::int64_t, double> run() {
    const bool is_late = script_.joins >= 0 && place_ == script_.places - 1;
    if (is_late) step_ = first_ = script_.joins;
    const bool is_whole = is_late || script_.joins < 0;
    meet(is_whole ? all_places() : without(script_.places - 1), is_late);
    while (true) {
      const bool is_joined = step_ == script_.joins && ranks_ < script_.places;
      if (is_joined) meet(all_places(), false);
      if (step_ == script_.leaves && ranks_ == script_.places) {
        note();
        if (place_ == script_.places - 1) return path_;
        meet(without(script_.places - 1), false);
      }
      try {
        if (step_ == script_.steps) {
          gradient_sync_->model().settle();
          note();
          gradient_sync_->model().join();  // nothing may be in flight after this
          return path_;
        }
        make();
        ++step_;
      } catch (const Error& error) {
        if (error.code() != ErrorCode::PeerLost) throw;
        meet(without(script_.dies), false);
        note();
      }
    }
  }

 private:
  parallel::ElasticSync& elastic() { return dynamic_cast<parallel::ElasticSync&>(*gradient_sync_); }

  std::vector<int> all_places() const {
    std::vector<int> members(static_cast<std::size_t>(script_.places));
    std::iota(members.begin(), members.end(), 0);
    return members;
  }
  std::vector<int> without(int place) const {
    std::vector<int> members = all_places();
    std::erase(members, place);
    return members;
  }

  void meet(const std::vector<int>& members, bool is_new) {
    if (std::find(members.begin(), members.end(), place_) == members.end()) return;
    group_ = root_.subgroup(members);
    {
      const std::lock_guard lock(mutex_);
      groups_.push_back(group_);
    }
    ranks_ = group_.size();
    elastic().survive(group_, members);
    if (!is_new) resolve();
    elastic().regroup(is_new);
  }

  // If any rank has prepared the step, all ranks complete it.
  void resolve() {
    const parallel::StepStatus mine = gradient_sync_->commit().status();
    std::vector<double> figures = mine.prepared.figures;
    figures.resize(kVoteFigures);
    figures.push_back(static_cast<double>(mine.prepared.step));
    std::vector<double> all(figures.size() * static_cast<std::size_t>(ranks_));
    // The rank that joins before this step does not take part in the collective below.
    if (step_ == script_.joins) return;
    group_
        .all_gather({all.data(), all.size(), comm::DType::Float64},
                    {figures.data(), figures.size(), comm::DType::Float64})
        .wait();
    std::vector<parallel::Prepared> told;
    for (auto at = all.begin(); !script_.is_silent && at != all.end(); at += kVoteFigures + 1) {
      told.push_back({.step = static_cast<std::int64_t>(at[kVoteFigures]),
                      .figures = {at, at + kVoteFigures}});
    }
    const bool is_known = gradient_sync_->commit().recall(mine.step, told).has_value();
    if (!is_known) return;
    if (mine.phase == parallel::StepStatus::Phase::Finished) return elastic().finish_failed_ranks();
    update();
    ++step_;
  }

  // Records the weight at a time at which no rank writes it.
  void note() {
    if (step_ > first_) path_[step_ - 1] = weight_[0].item<double>();
  }
  void update() { gradient_sync_->update({.number = step_ + 1, .learning_rate = kPullRate}); }

  void make() {
    std::vector<int> owners(static_cast<std::size_t>(ranks_));
    std::iota(owners.begin(), owners.end(), 0);
    gradient_sync_->begin_step({.step = step_,
                                .micro_batch_count = ranks_,
                                .micro_batches = {group_.rank()},
                                .owners = owners});
    note();
    gradient_sync_->begin_micro_batch(0);
    (0.5 * (weight_ - place_).pow(2) / ranks_).sum().backward();
    gradient_sync_->end_micro_batch();
    const bool is_last = step_ + 1 == std::max(script_.joins, script_.leaves);
    gradient_sync_->finish_reduction();
    const parallel::CommitResult all = gradient_sync_->commit().prepare(
        {.loss = 1, .is_change_wanted = script_.is_told && is_last});
    EXPECT_EQ(all.is_change_wanted, script_.is_told && is_last);
    update();
  }

  const Script& script_;
  int place_;
  comm::Group root_;
  std::vector<comm::Group>& groups_;
  std::mutex& mutex_;
  Trap trap_;
  // It has many elements, so that each rank that shares it has a shard.
  at::Tensor weight_ = torch::full({300}, kFirstWeight, torch::kDouble).requires_grad_();
  std::shared_ptr<parallel::GradientSync> gradient_sync_;
  comm::Group group_ = comm::Group::solo();
  int ranks_ = 0;
  std::int64_t step_ = 0;
  std::int64_t first_ = 0;  // step of this rank
  std::map<std::int64_t, double> path_;
};

// Runs the script; returns the weights by place and step.
inline std::vector<std::map<std::int64_t, double>> played(const Script& script) {
  const auto roots =
      script.hosts.empty()
          ? comm::connect_threads(script.places, {.timeout = std::chrono::seconds(30)})
          : comm::connect_hosts(script.hosts);
  std::vector<std::map<std::int64_t, double>> paths(roots.size());
  std::vector<std::unique_ptr<Pulled>> all;
  std::vector<comm::Group> groups;
  std::mutex mutex;
  for (int place = 0; place < script.places; ++place) {
    all.push_back(std::make_unique<Pulled>(script, place, roots[static_cast<std::size_t>(place)],
                                           groups, mutex));
  }
  testing::run_rank_threads(script.places, [&](int place) {
    try {
      paths[static_cast<std::size_t>(place)] = all[static_cast<std::size_t>(place)]->run();
    } catch (const Dead&) {
    }
  });
  return paths;
}

}  // namespace trireme::train
