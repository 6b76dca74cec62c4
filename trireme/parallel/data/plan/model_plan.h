// ModelPlan is what every rank computes alike from a model: which parameters are updated alike,
// which parameters each block reads, and where each parameter lies in the buckets.
//
// Blueprint is what ranks have to agree on before they lay a model out: the order in which the
// first step's gradients arrived on rank 0, and random names for shared memory.
//
// Thread safety: immutable.

#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "trireme/model/model.h"
#include "trireme/parallel/data/plan/bucket_plan.h"
#include "trireme/parallel/parameter.h"

namespace trireme::parallel::data {

struct Blueprint {
  static constexpr std::size_t kLedger = 0, kResiduals = 1, kStorage = 2;  // among the names

  std::vector<std::int64_t> order;  // of parameters
  // Of shared memory: the ledger's, the residuals', then those of Storage::make().
  std::vector<std::int64_t> names;

  // With new random names.
  static Blueprint draw(const std::vector<std::size_t>& order, std::size_t state_count);

  std::vector<std::int64_t> storage_names() const {
    return {names.begin() + kStorage, names.end()};
  }
  std::uint64_t name(std::size_t index) const { return static_cast<std::uint64_t>(names[index]); }
};

class ModelPlan {
 public:
  // `model` may be null: then it has no blocks.
  ModelPlan(const std::vector<Parameter>& parameters, const model::Model* model);

  // By parameter: parameters with equal numbers are updated alike.
  const std::vector<int>& groups() const noexcept { return groups_; }
  // By block: the parameters that it reads. Empty if some parameter is in no block.
  const std::vector<std::vector<std::size_t>>& blocks() const noexcept { return blocks_; }
  std::optional<std::size_t> index_of(const at::Tensor& parameter) const;

  struct Buckets {
    std::int64_t bytes = 4 << 20;
    bool has_whole_parameters = false;  // shards end between parameters
    bool is_by_block = false;           // no bucket holds parameters of two blocks
  };
  BucketPlan buckets(const std::vector<std::int64_t>& order, const Buckets& how) const;

 private:
  const std::vector<Parameter>& parameters_;
  std::vector<int> groups_;
  std::vector<std::vector<std::size_t>> blocks_;
  std::unordered_map<const void*, std::size_t> index_;  // by tensor
};

}  // namespace trireme::parallel::data
