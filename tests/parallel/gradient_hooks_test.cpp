// Goal:   hooks are called when a gradient is complete; buckets are announced in the order of the
//         plan, independent of the order of gradients; flat memory can be shared by ranks.
// Method: small graphs with known gradients; ranks as threads.

#include "trireme/parallel/gradient_hooks.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "trireme/base/error.h"
#include "trireme/comm/connect_threads.h"
#include "trireme/parallel/data/gradient/gradient_buckets.h"
#include "trireme/parallel/data/storage/flat_memory.h"
#include "trireme/testing/rank_threads.h"

namespace trireme::parallel {
namespace {

std::vector<Parameter> three() {
  std::vector<Parameter> all;
  for (const char* name : {"a", "b", "c"}) {
    all.push_back({.name = name, .tensor = torch::ones({2}).requires_grad_()});
  }
  return all;
}

TEST(GradientHooks, AreCalledOncePerCompleteGradientUntilDestroyed) {
  const auto parameters = three();
  std::vector<std::size_t> on_gradient;
  {
    const GradientHooks hooks(parameters, [&](std::size_t i) {
      // Parameter 0 is used twice; both parts must have been added up.
      EXPECT_TRUE(parameters[i].tensor.grad().equal(at::full({2}, i == 0 ? 5.0 : 3.0)));
      on_gradient.push_back(i);
    });
    const at::Tensor first = parameters[0].tensor * 2;
    (first + parameters[1].tensor * 3 + parameters[0].tensor * 3).sum().backward();
    std::sort(on_gradient.begin(), on_gradient.end());
    EXPECT_EQ(on_gradient, (std::vector<std::size_t>{0, 1}));
  }
  parameters[2].tensor.sum().backward();
  EXPECT_EQ(on_gradient.size(), 2U);
}

namespace buckets = data;

struct Gathered {
  std::vector<Parameter> parameters = three();
  buckets::BucketPlan plan =
      buckets::BucketPlan::make(std::vector<buckets::BucketPlan::Parameter>(3, {.count = 2}),
                                std::vector<std::size_t>{2, 1, 0}, {.bucket_count = 1});
  std::vector<std::size_t> full;

  buckets::GradientBuckets make(bool is_in_parts = false) {
    return {plan,
            parameters,
            {.memory = at::full({plan.count}, 99.0),
             .full = [this](std::size_t bucket) { full.push_back(bucket); },
             .is_in_parts = is_in_parts}};
  }
  void produce(buckets::GradientBuckets& into, std::size_t parameter, double value) {
    parameters[parameter].tensor.mutable_grad() = at::full({2}, value);
    into.take(parameter);
    EXPECT_FALSE(parameters[parameter].tensor.grad().defined()) << "its memory is freed";
  }
  at::Tensor of(const buckets::GradientBuckets& in, std::size_t parameter) const {
    return in.bucket(plan.bucket_of[parameter]).narrow(0, 0, 2);
  }
};

TEST(GradientBuckets, AreAnnouncedInTheOrderOfThePlan) {
  Gathered g;
  auto gathered = g.make();
  gathered.begin_micro_batch({});
  g.produce(gathered, 0, 1);
  EXPECT_TRUE(g.full.empty()) << "other buckets come before it in the plan";
  g.produce(gathered, 2, 3);
  EXPECT_EQ(g.full, (std::vector<std::size_t>{0}));
  g.produce(gathered, 1, 2);
  EXPECT_EQ(g.full, (std::vector<std::size_t>{0, 1, 2}));
  gathered.end_micro_batch();
  EXPECT_EQ(g.full.size(), 3U) << "each bucket is announced once";
  EXPECT_TRUE(g.of(gathered, 1).equal(at::full({2}, 2.0)));
}

TEST(GradientBuckets, SumMicroBatchesAndZeroMissingGradients) {
  Gathered g;
  auto gathered = g.make();
  for (int step = 0; step < 2; ++step) {
    g.full.clear();
    gathered.begin_micro_batch({.is_first = true, .is_last = false});
    g.produce(gathered, 0, 1);
    gathered.end_micro_batch();
    EXPECT_TRUE(g.full.empty());
    gathered.begin_micro_batch({.is_first = false, .is_last = true});
    g.produce(gathered, 0, 10);
    g.produce(gathered, 1, 20);
    gathered.end_micro_batch();
    EXPECT_EQ(g.full, (std::vector<std::size_t>{0, 1, 2}));
    EXPECT_TRUE(g.of(gathered, 0).equal(at::full({2}, 11.0)));
    EXPECT_TRUE(g.of(gathered, 1).equal(at::full({2}, 20.0)));
    EXPECT_TRUE(g.of(gathered, 2).equal(at::zeros({2})));
    EXPECT_TRUE(gathered.is_used(1));
    EXPECT_FALSE(gathered.is_used(2));
  }
}

TEST(GradientBuckets, GradientsInPartsWaitForTheEndOfTheMicroBatch) {
  Gathered g;
  auto gathered = g.make(true);
  gathered.begin_micro_batch({});
  g.produce(gathered, 2, 1);
  g.produce(gathered, 2, 2);
  EXPECT_TRUE(g.full.empty());
  gathered.end_micro_batch();
  EXPECT_EQ(g.full.size(), 3U);
  EXPECT_TRUE(g.of(gathered, 2).equal(at::full({2}, 3.0)));
}

TEST(FlatMemory, IsCommonOrPrivate) {
  const auto groups = comm::connect_threads(3);
  testing::run_rank_threads(3, [&](int rank) {
    const comm::Group& group = groups[static_cast<std::size_t>(rank)];
    const at::Tensor common = data::common_flat(group, 0x55, 6, at::kFloat, 3);
    const at::Tensor own = data::private_flat(group, 3, at::kDouble);
    EXPECT_TRUE(own.equal(at::zeros({3}, at::kDouble)));
    own.fill_(rank);
    common.narrow(0, 2 * rank, 2).fill_(rank + 1);
    group.barrier().wait();
    EXPECT_TRUE(common.equal(torch::tensor({1.0F, 1.0F, 2.0F, 2.0F, 3.0F, 3.0F})));
    EXPECT_TRUE(own.equal(at::full({3}, rank, at::kDouble)));
    group.barrier().wait();
  });
  EXPECT_EQ(data::private_flat(comm::Group::solo(), 0, at::kFloat).numel(), 0);
}

}  // namespace
}  // namespace trireme::parallel
