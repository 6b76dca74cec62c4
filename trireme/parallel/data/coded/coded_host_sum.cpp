#include "trireme/parallel/data/coded/coded_host_sum.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "trireme/base/check.h"

namespace trireme::parallel::data {

CodedHostSum::CodedHostSum(CodedSum::Options options, const BucketPlan& plan,
                           std::vector<Parameter> parameters)
    : options_(std::move(options)),
      plan_(plan),
      parameters_(std::move(parameters)),
      written_(plan.buckets.size()) {}

// The current leader continues. If it is gone, the first rank that knew it becomes the leader.
CodedHostSum::Leader CodedHostSum::choose_leader(const Members& members) const {
  const std::int64_t mine[] = {leader_place_, own_ ? 1 : 0, members.place};
  std::vector<std::int64_t> all(std::size(mine) * static_cast<std::size_t>(members.host.size()));
  members.host
      .all_gather({all.data(), all.size(), comm::DType::Int64},
                  {mine, std::size(mine), comm::DType::Int64}, {.label = "choose a leader"})
      .wait();
  const auto report = [&](int rank, std::size_t what) {
    return all[std::size(mine) * static_cast<std::size_t>(rank) + what];
  };
  Leader leader;
  int leading = -1, first_informed = -1;
  for (int rank = members.host.size(); rank-- > 0;) {
    if (report(rank, 1) != 0) leading = rank;
    if (report(rank, 0) < 0) continue;
    first_informed = rank;
    leader.before.insert(static_cast<int>(report(rank, 0)));
  }
  leader.rank = leading >= 0 ? leading : std::max(first_informed, 0);
  leader.place = static_cast<int>(report(leader.rank, 2));
  return leader;
}

// The new leader takes over the residual of the previous one. If a rank failed while it was
// becoming the leader, ranks know different previous leaders, so it tries all of them.
void CodedHostSum::take_over(const Members& members, const comm::Group& leaders,
                             const std::set<int>& before) {
  if (own_) return own_->regroup({.all = leaders});
  CodedSum::Options options = options_;
  options.group = leaders;
  options.is_undoable = true;
  options.shared.place = members.place;
  own_.emplace(std::move(options), plan_, parameters_);
  for (const int place : before) {
    if (place == members.place) continue;
    own_->feedback()->inherit(place, members.last_step, Residuals::As::Follower);
  }
  own_->begin(step_);
}

void CodedHostSum::regroup(const Members& members) {
  forget();
  host_group_ = members.host.duplicate();
  const Leader leader = choose_leader(members);
  const std::uint8_t mine = leader.rank == members.host.rank() ? 1 : 0;
  std::vector<std::uint8_t> all(static_cast<std::size_t>(members.all.size()));
  members.all
      .all_gather({all.data(), all.size(), comm::DType::UInt8}, {&mine, 1, comm::DType::UInt8},
                  {.label = "leaders"})
      .wait();
  leader_rank_ = leader.rank;
  leader_place_ = leader.place;
  if (mine == 0) return;
  std::vector<int> leaders;
  for (int rank = 0; rank < members.all.size(); ++rank) {
    if (all[static_cast<std::size_t>(rank)] != 0) leaders.push_back(rank);
  }
  take_over(members, members.all.subgroup(leaders), leader.before);
}

void CodedHostSum::forget() {
  for (comm::Work& written : written_) written = {};
  launched_ = 0;
  if (own_) own_->forget();
}

void CodedHostSum::begin(std::int64_t step) {
  forget();
  step_ = step;
  traffic_ = {};
  if (own_) own_->begin(step);
}

void CodedHostSum::launch(std::size_t bucket, const at::Tensor& values, const at::Tensor& out) {
  TRIREME_CHECK_EQ(bucket, launched_, "buckets must be launched in ascending order");
  comm::Work written =
      host_group_.barrier({.label = "bucket " + std::to_string(bucket) + " of the host"});
  ++launched_;
  if (own_) {
    own_->launch(bucket, values, out, std::move(written));
  } else {
    written_[bucket] = std::move(written);
  }
}

// The last bucket is complete only after a broadcast of the leader, which finish() waits for.
bool CodedHostSum::is_done(std::size_t bucket) {
  const bool is_last = bucket + 1 == written_.size();
  const bool is_summed = own_ ? own_->is_done(bucket) : written_[bucket].is_done();
  return is_summed && !is_last;
}

void CodedHostSum::finish(std::size_t bucket) {
  if (own_) {
    own_->finish(bucket);
  } else {
    written_[bucket].wait();
  }
  if (bucket + 1 < written_.size()) return;
  if (own_) traffic_ = own_->traffic();
  std::int64_t told[] = {traffic_.plain, traffic_.sent};
  host_group_
      .broadcast({told, std::size(told), comm::DType::Int64}, leader_rank_, {.label = "sums"})
      .wait();
  traffic_ = {.plain = told[0], .sent = told[1]};
}

}  // namespace trireme::parallel::data
