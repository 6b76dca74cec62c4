// Three small parameters in two buckets, for tests of the parts of data parallelism.

#pragma once

#include <torch/torch.h>

#include <vector>

#include "trireme/parallel/data/plan/model_plan.h"

namespace trireme::parallel::data {

inline std::vector<Parameter> part_parameters(float value = 0) {
  std::vector<Parameter> all;
  for (const std::int64_t size : {7, 40, 33}) {
    all.push_back({.name = "p" + std::to_string(size),
                   .tensor = torch::full({size}, value).requires_grad_()});
  }
  return all;
}

// `bytes` per bucket: the first two parameters share one bucket.
inline BucketPlan part_plan(const std::vector<Parameter>& parameters) {
  return ModelPlan(parameters, nullptr).buckets({0, 1, 2}, {.bytes = 64 * sizeof(float)});
}

}  // namespace trireme::parallel::data
