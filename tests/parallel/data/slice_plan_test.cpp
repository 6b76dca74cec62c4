// Goal:   a rank's slices of buckets are a plan of their own: every element of every parameter is
// in
//         one rank's, under a name that says where.
// Method: odd parameters in small buckets, cut for one to five ranks.

#include "trireme/parallel/data/slice_plan.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <map>

namespace trireme::parallel::data {
namespace {

TEST(SlicePlan, HasEveryElementOnce) {
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
    Layout layout;
    layout.plan = BucketPlan::make(shapes, order_of({}, shapes.size()), {.bucket_count = 64});
    layout.values = {torch::full({layout.plan.count}, -1.0f), false, {}};
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      layout.values.at(layout.plan.bucket_of[i], layout.plan.range_of[i])
          .copy_(parameters[i].tensor.flatten());
    }
    std::multimap<std::string, at::Tensor> found;
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
          // Where the slice itself has it.
          const at::Tensor own = layout.values.at(b, layout.own[b]);
          const at::Tensor& part = slices.parameters[entry.parameter].tensor;
          EXPECT_TRUE(own.narrow(0, entry.range.begin - bucket.range.begin, entry.range.count())
                          .equal(part.flatten()));
        }
      }
      for (const Parameter& part : slices.parameters) {
        found.emplace(part.name, part.tensor);
        for (std::int64_t i = 0; i < part.tensor.numel(); ++i) {
          elements.push_back(part.tensor.flatten()[i].item<float>());
        }
      }
    }
    std::sort(elements.begin(), elements.end());
    ASSERT_EQ(elements.size(), static_cast<std::size_t>(next)) << ranks;
    for (std::size_t i = 0; i < elements.size(); ++i) EXPECT_EQ(elements[i], i);
    // Names differ, and a whole parameter has its own and its shape.
    for (const auto& [name, part] : found) {
      EXPECT_EQ(found.count(name), 1u) << name;
      EXPECT_EQ(part.dim(), name.find('@') == std::string::npos ? 2 : 1) << name;
    }
    EXPECT_EQ(found.count("p40"), ranks == 1 ? 1u : 0u) << "in one piece for one rank alone";
  }
  EXPECT_EQ(name_of_part("w", 16, 32), "w@16+32");
}

}  // namespace
}  // namespace trireme::parallel::data
