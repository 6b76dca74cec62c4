// GradientReduction makes the reducer that fits a composition, a layout and a placement, and owns
// the sums that it consists of.
//
// The coded sum lives as long as the layout, because it holds error-feedback residuals; the plain
// sums and the reducer are made again for every placement.
//
// Thread safety: as Reducer.

#pragma once

#include <memory>
#include <vector>

#include "trireme/codec/codec.h"
#include "trireme/parallel/data/composition.h"
#include "trireme/parallel/data/plan/model_plan.h"
#include "trireme/parallel/data/reduce/reducer.h"
#include "trireme/parallel/data/storage/layout.h"
#include "trireme/parallel/parameter.h"

namespace trireme::parallel::data {

// A BucketPlan of one rank's shards of the buckets of another plan. The parts of parameters in
// these shards are its parameters; one that is completely in the shard keeps its shape. A codec
// uses it to encode shards that are sent between hosts.
struct SlicePlan {
  BucketPlan plan;                    // the same number of buckets; shards are contiguous
  std::vector<Parameter> parameters;  // parts, with their begin

  // For this rank's shards of the layout; the parameters are views of its values.
  SlicePlan(const StorageLayout& layout, const std::vector<Parameter>& parameters);
};

class GradientReduction {
 public:
  // How buckets, or shards of them, are encoded. With replicas across hosts, only what travels
  // between hosts is.
  struct Coding {
    std::shared_ptr<const codec::Codec> codec{};  // null: none
    std::int64_t begin = 0;                       // the first step that uses it
    bool has_error_feedback = true;
    std::uint64_t seed = 0;  // of the codec's random numbers
  };
  explicit GradientReduction(const Composition& composition, Coding coding)
      : composition_(composition), coding_(std::move(coding)) {}

  // Null before connect().
  Reducer* reducer() const noexcept { return reducer_.get(); }
  // Null without a codec, and before lay_out().
  BucketSum* coded() const noexcept { return coded_.get(); }

  // Also begins the coded sum's step if no level of the reducer uses it now, because its residuals
  // are committed with every step.
  void begin_step(const StepPlan& plan);
  // The bytes of that step, if there is a codec.
  Traffic traffic(std::int64_t step) const;

  // Makes the coded sum of a new layout.
  void lay_out(const StorageLayout& layout, const Placement& where, const Blueprint& blueprint,
               const std::vector<Parameter>& parameters);
  // Makes the reducer. The layout and the gradients must outlive it.
  void connect(const StorageLayout& layout, MicroBatchGradients& gradients, const Placement& where);

 private:
  void connect_levels(BucketReducer::Options& how, const StorageLayout& layout,
                      const Placement& where);
  Traffic plain_traffic(const StorageLayout& layout, const Placement& where) const;

  Composition composition_;
  Coding coding_;
  std::unique_ptr<BucketSum> coded_;
  std::vector<std::unique_ptr<BucketSum>> sums_;  // without a codec, of this placement
  std::unique_ptr<Reducer> reducer_;
  Traffic plain_;  // of a step before the codec begins
};

}  // namespace trireme::parallel::data
