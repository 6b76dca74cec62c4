// Goal:   every reducer gives each rank the sum of its own elements, with one level or two;
//         finish() launches buckets that backward did not, and forget() gives up everything in
//         flight.
// Method: ranks as threads on one or two hosts, with gradients whose sum is known.

#include "trireme/parallel/data/reduce/reducer.h"

#include <gtest/gtest.h>

#include "tests/comm/host_threads.h"
#include "tests/parallel/data/part_parameters.h"
#include "trireme/parallel/data/placement.h"
#include "trireme/parallel/data/reduce/plain_sums.h"
#include "trireme/testing/rank_threads.h"

namespace trireme::parallel::data {
namespace {

// Counts the buckets that it sums.
class CountingSum final : public BucketSum {
 public:
  explicit CountingSum(comm::Group group) : sum_(std::move(group)) {}
  void launch(std::size_t bucket, const at::Tensor& values, const at::Tensor& out) override {
    ++count;
    sum_.launch(bucket, values, out);
    launched_ = sum_.launched();
  }
  bool is_done(std::size_t bucket) override { return sum_.is_done(bucket); }
  void finish(std::size_t bucket) override { sum_.finish(bucket); }
  void forget() override {
    sum_.forget();
    launched_ = 0;
  }

  int count = 0;

 private:
  AllReduceSum sum_;
};

// One rank's gradients of one micro-batch: `value` everywhere.
class OneRank {
 public:
  OneRank(const comm::Group& group, bool is_ordered)
      : where_(Placement::of_epoch(group, std::vector<int>(64), true)),
        parameters_(part_parameters()),
        gradients_(layout_.plan = part_plan(parameters_), parameters_,
                   {.is_ordered = is_ordered,
                    .allocate = [](std::int64_t count) { return torch::zeros({count}); },
                    .full = [this](std::size_t bucket) { launch(bucket); }}) {
    layout_.reduced = {torch::zeros({layout_.plan.count}), false, {}};
    plan_.micro_batches = {group.rank()};
    plan_.micro_batch_count = group.size();
    plan_.owners.clear();
    for (int rank = 0; rank < group.size(); ++rank) plan_.owners.push_back(rank);
  }

  StorageLayout& layout() { return layout_; }
  const Placement& where() const { return where_; }
  MicroBatchGradients& gradients() { return gradients_; }

  void next_step() { ++plan_.step; }
  void cut(int rank, int ranks) {
    for (const BucketPlan::Bucket& bucket : layout_.plan.buckets) {
      layout_.own.push_back(ranks == 1 ? bucket.range : bucket.slice(rank, ranks));
    }
  }

  // Only bucket 0 is launched by backward; finish() launches the rest.
  void expect_sum(Reducer& reducer, float value, float sum) {
    reducer_ = &reducer;
    gradients_.begin_step(plan_, false, 0);
    reducer.begin_step(plan_);
    gradients_.begin(0);
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      parameters_[i].tensor.mutable_grad() = torch::full_like(parameters_[i].tensor, value);
      gradients_.take(i);
    }
    gradients_.end();
    reducer.poll();
    reducer.finish();
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      const std::size_t b = layout_.plan.bucket_of[i];
      const ElementRange own = common(layout_.plan.range_of[i], layout_.own[b]);
      if (own.count() <= 0) continue;
      EXPECT_TRUE(layout_.reduced.at(b, own).eq(sum).all().item<bool>()) << parameters_[i].name;
    }
  }

 private:
  void launch(std::size_t bucket) {
    if (bucket == 0) reducer_->launch(bucket);
  }

  Placement where_;
  std::vector<Parameter> parameters_;
  StorageLayout layout_;
  MicroBatchGradients gradients_;
  StepPlan plan_;
  Reducer* reducer_ = nullptr;
};

void on_ranks(const std::vector<int>& hosts, bool is_ordered,
              const std::function<void(OneRank& rank, const comm::Group& group)>& body) {
  const std::vector<comm::Group> groups = comm::connect_hosts(hosts);
  testing::run_rank_threads(static_cast<int>(hosts.size()), [&](int rank) {
    const c10::NoGradGuard no_grad;
    const comm::Group& group = groups[static_cast<std::size_t>(rank)];
    OneRank one(group, is_ordered);
    body(one, group);
    group.barrier().wait();
  });
}

float value_of(const comm::Group& group) {
  return static_cast<float>(1 << group.rank());
}

TEST(Reducer, AnAllReduceGivesEveryRankAllSums) {
  on_ranks({0, 0, 0}, false, [](OneRank& rank, const comm::Group& group) {
    rank.cut(0, 1);
    AllReduceSum sum(group);
    BucketReducer reducer(
        {.gradients = &rank.gradients(), .layout = &rank.layout(), .plain = {.first = &sum}});
    for (int step = 0; step < 2; ++step) rank.expect_sum(reducer, value_of(group), 7);
  });
}

TEST(Reducer, TwoLevelsSumWithinHostsAndThenAcross) {
  on_ranks({0, 0, 1, 1}, false, [](OneRank& rank, const comm::Group& group) {
    const Placement& where = rank.where();
    rank.cut(where.host.rank(), where.host.size());
    ReduceScatterSum within(where.host, rank.layout().plan);
    AllReduceSum across(where.across);
    BucketReducer reducer({.gradients = &rank.gradients(),
                           .layout = &rank.layout(),
                           .plain = {.first = &within, .second = &across}});
    for (int step = 0; step < 2; ++step) rank.expect_sum(reducer, value_of(group), 15);
  });
}

TEST(Reducer, HostsWithDifferentNumbersOfRanksKeepTheirOwnShards) {
  on_ranks({0, 0, 1}, false, [](OneRank& rank, const comm::Group& group) {
    const Placement& where = rank.where();
    rank.cut(where.host.rank(), where.host.size());
    WholeSum whole(where.all, rank.layout());
    BucketReducer reducer(
        {.gradients = &rank.gradients(), .layout = &rank.layout(), .plain = {.first = &whole}});
    for (int step = 0; step < 2; ++step) rank.expect_sum(reducer, value_of(group), 7);
  });
}

TEST(Reducer, AnOrderedSumGivesEveryRankAllSums) {
  on_ranks({0, 0, 1}, true, [](OneRank& rank, const comm::Group& group) {
    rank.cut(0, 1);
    OrderedReducer reducer(
        {.gradients = &rank.gradients(), .layout = &rank.layout(), .group = group});
    for (int step = 0; step < 2; ++step) rank.expect_sum(reducer, value_of(group), 7);
  });
}

TEST(Reducer, TheCodecBeginsAtItsStep) {
  on_ranks({0, 0}, false, [](OneRank& rank, const comm::Group& group) {
    rank.cut(0, 1);
    AllReduceSum plain(group);
    CountingSum coded(group);
    BucketReducer reducer({.gradients = &rank.gradients(),
                           .layout = &rank.layout(),
                           .plain = {.first = &plain},
                           .coded = {.first = &coded},
                           .codec_begin = 1});
    rank.expect_sum(reducer, value_of(group), 3);
    EXPECT_EQ(coded.count, 0);
    rank.next_step();
    rank.expect_sum(reducer, value_of(group), 3);
    EXPECT_EQ(coded.count, 2);
    EXPECT_EQ(plain.launched(), 0U) << "finished collectives are dropped";
  });
}

}  // namespace
}  // namespace trireme::parallel::data
