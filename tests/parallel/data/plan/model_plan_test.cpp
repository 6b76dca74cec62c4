// Goal:   every rank derives the same buckets from a model and a blueprint: parameters with the
//         same update settings have one group number, and blocks list the parameters that they
//         read.
// Method: small lists of parameters and a model of blocks, with results computed by hand.

#include "trireme/parallel/data/plan/model_plan.h"

#include <gmock/gmock.h>

#include <set>

#include "tests/parallel/data/part_parameters.h"
#include "tests/train/tiny_job.h"

namespace trireme::parallel::data {
namespace {

using ::testing::ElementsAre;

TEST(ModelPlan, ParametersWithTheSameUpdateSettingsShareAGroup) {
  std::vector<Parameter> parameters = part_parameters();
  parameters[1].weight_decay = 0.1;
  const ModelPlan plan(parameters, nullptr);
  EXPECT_THAT(plan.groups(), ElementsAre(0, 1, 0));
  EXPECT_TRUE(plan.blocks().empty());
  EXPECT_EQ(plan.index_of(parameters[2].tensor), 2U);
  EXPECT_EQ(plan.index_of(torch::zeros({1})), std::nullopt);
}

TEST(ModelPlan, BucketsFollowTheOrderAndTheSize) {
  const std::vector<Parameter> parameters = part_parameters();
  const BucketPlan plan =
      ModelPlan(parameters, nullptr).buckets({2, 0, 1}, {.bytes = 40 * sizeof(float)});
  EXPECT_THAT(plan.bucket_of, ElementsAre(1, 1, 0)) << "a bucket is closed once it is full";
  EXPECT_EQ(part_plan(parameters).buckets.size(), 2U);
}

TEST(ModelPlan, NoBucketHoldsParametersOfTwoBlocks) {
  const config::Config config = train::tiny_config("gpt", {});
  train::Job job = open_job(config, train::tiny_kinds());
  const std::vector<Parameter> parameters = parameters_of(*job.model);
  const ModelPlan model(parameters, job.model.get());
  ASSERT_GT(model.blocks().size(), 1U);
  std::vector<std::int64_t> order;
  for (std::size_t i = 0; i < parameters.size(); ++i) order.push_back(static_cast<int>(i));
  const BucketPlan plan = model.buckets(order, {.is_by_block = true});
  for (const BucketPlan::Bucket& bucket : plan.buckets) {
    std::set<std::size_t> blocks;
    for (const BucketPlan::Entry& entry : bucket.entries) {
      for (std::size_t b = model.blocks().size(); b-- > 0;) {
        const std::vector<std::size_t>& read = model.blocks()[b];
        const bool is_first = std::count(read.begin(), read.end(), entry.parameter) > 0;
        if (!is_first) continue;
        // A tied parameter belongs to the first of its blocks.
        const auto before = model.blocks().begin() + static_cast<std::ptrdiff_t>(b);
        const bool is_tied = std::any_of(model.blocks().begin(), before, [&](const auto& other) {
          return std::count(other.begin(), other.end(), entry.parameter) > 0;
        });
        if (!is_tied) blocks.insert(b);
      }
    }
    EXPECT_EQ(blocks.size(), 1U);
  }
}

TEST(Blueprint, NamesAreNewAndNeverZero) {
  const Blueprint one = Blueprint::draw({1, 0}, 2);
  const Blueprint other = Blueprint::draw({1, 0}, 2);
  EXPECT_THAT(one.order, ElementsAre(1, 0));
  EXPECT_EQ(one.names.size(), Blueprint::kStorage + 3 + 2);
  EXPECT_EQ(one.storage_names().size(), 5U);
  EXPECT_NE(one.names, other.names);
  EXPECT_THAT(one.names, ::testing::Not(::testing::Contains(0)));
}

}  // namespace
}  // namespace trireme::parallel::data
