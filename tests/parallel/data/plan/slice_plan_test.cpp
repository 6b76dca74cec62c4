// Goal:   the plans of all ranks' shards contain every element of every parameter exactly once,
//         with the parameter and the offset that it belongs to.
// Method: parameters of odd sizes in small buckets, divided over one to five ranks.

#include "trireme/parallel/data/reduce/gradient_reduction.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <map>

namespace trireme::parallel::data {
namespace {

TEST(SlicePlan, PlansOfAllRanksContainEveryElementOnce) {
  std::vector<Parameter> parameters;
  std::vector<BucketPlan::Parameter> shapes;
  std::int64_t next = 0;
  for (const std::int64_t rows : {1, 5, 40, 3}) {
    const std::int64_t count = rows * 7;
    parameters.push_back(
        {.name = "p" + std::to_string(rows),
         .tensor = torch::arange(next, next + count, torch::kFloat).view({rows, 7})});
    shapes.push_back({.count = count});
    next += count;
  }
  for (const int ranks : {1, 2, 5}) {
    StorageLayout layout;
    layout.plan = BucketPlan::make(shapes, order_of({}, shapes.size()), {.bucket_count = 64});
    layout.values = {torch::full({layout.plan.count}, -1.0f), false, {}};
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      layout.values.at(layout.plan.bucket_of[i], layout.plan.range_of[i])
          .copy_(parameters[i].tensor.flatten());
    }
    std::map<std::string, std::int64_t> found;  // elements by parameter
    std::size_t pieces = 0;
    std::vector<float> elements;
    for (int rank = 0; rank < ranks; ++rank) {
      layout.own.clear();
      for (const auto& bucket : layout.plan.buckets)
        layout.own.push_back(bucket.slice(rank, ranks));
      const SlicePlan slices(layout, parameters);
      ASSERT_EQ(slices.plan.buckets.size(), layout.plan.buckets.size());
      for (std::size_t b = 0; b < slices.plan.buckets.size(); ++b) {
        const BucketPlan::Bucket& bucket = slices.plan.buckets[b];
        EXPECT_EQ(bucket.range.count(), layout.own[b].count());
        for (const BucketPlan::Entry& entry : bucket.entries) {
          EXPECT_EQ(slices.plan.range_of[entry.parameter], entry.range);
          // The plan's parameter must be the same range of the shard.
          const at::Tensor own = layout.values.at(b, layout.own[b]);
          const at::Tensor& part = slices.parameters[entry.parameter].tensor;
          EXPECT_TRUE(own.narrow(0, entry.range.begin - bucket.range.begin, entry.range.count())
                          .equal(part.flatten()));
        }
      }
      for (const Parameter& part : slices.parameters) {
        const at::Tensor& tensor = part.tensor;
        const auto whole =
            std::find_if(parameters.begin(), parameters.end(),
                         [&](const Parameter& one) { return one.name == part.name; });
        ASSERT_NE(whole, parameters.end());
        EXPECT_EQ(part.shard().sizes(), whole->tensor.sizes().vec());
        EXPECT_TRUE(
            whole->tensor.flatten().narrow(0, part.begin, tensor.numel()).equal(tensor.flatten()));
        // A parameter that is completely in the shard keeps its shape.
        EXPECT_EQ(tensor.dim(), tensor.numel() == whole->tensor.numel() ? 2 : 1) << part.name;
        found[part.name] += tensor.numel();
        ++pieces;
        for (std::int64_t e = 0; e < tensor.numel(); ++e) {
          elements.push_back(tensor.flatten()[e].item<float>());
        }
      }
    }
    std::sort(elements.begin(), elements.end());
    ASSERT_EQ(elements.size(), static_cast<std::size_t>(next)) << ranks;
    for (std::size_t i = 0; i < elements.size(); ++i) EXPECT_EQ(elements[i], i);
    for (const Parameter& one : parameters) EXPECT_EQ(found[one.name], one.tensor.numel());
    EXPECT_EQ(pieces > parameters.size(), ranks > 1)
        << "with one rank, every parameter is in one piece";
  }
}

}  // namespace
}  // namespace trireme::parallel::data
