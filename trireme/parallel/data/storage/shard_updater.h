// ShardUpdater applies the optimizer to shards of a model: this rank's in every step, and those of
// ranks that died in the middle of an update.
//
// Thread safety: one thread.

#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "trireme/base/fault.h"
#include "trireme/optim/optimizer.h"
#include "trireme/parallel/data/journal/ledger.h"
#include "trireme/parallel/data/plan/bucket_plan.h"
#include "trireme/parallel/data/storage/storage.h"
#include "trireme/parallel/gradient_sync.h"

namespace trireme::parallel::data {

// A run of a shard that one optimizer call can update: adjacent parameters with the same update
// settings, without parameters that got no gradient. It includes the padding between its
// parameters: its gradient, value and state are zero, and stay zero under every rule that maps
// zeros to zeros.
struct Segment {
  ElementRange range;         // in the flat space
  std::size_t parameter = 0;  // any parameter of the run; all have the same settings

  friend bool operator==(const Segment&, const Segment&) = default;
};

// `is_used`: whether a parameter got a gradient. `group_of`: by parameter, its group in the plan.
// In a bucket of whole parameters (is_whole), each parameter is a segment.
std::vector<Segment> segments_of(const BucketPlan::Bucket& bucket, ElementRange slice,
                                 std::span<const int> group_of,
                                 const std::function<bool(std::size_t)>& is_used);

class ShardUpdater {
 public:
  struct Options {
    const std::vector<Parameter>* parameters = nullptr;
    const std::vector<int>* groups = nullptr;  // see ModelPlan
    std::shared_ptr<const optim::Optimizer> optimizer;
    bool has_whole_parameters = false;  // the rule needs whole tensors
    Faults* faults = nullptr;
  };
  // The shard of one rank of a cut, in the step that is being completed.
  struct Shard {
    int rank = 0;
    int ranks = 1;
    double max_grad_value = 0;  // see StepPlan
    int fault_rank = 0;         // the rank that runs the update
  };
  explicit ShardUpdater(Options options) : options_(std::move(options)) {}

  const optim::Optimizer& optimizer() const noexcept { return *options_.optimizer; }
  bool has_whole_parameters() const noexcept { return options_.has_whole_parameters; }
  // By parameter, whether any rank used it in this step; the others are not updated.
  void set_used(std::vector<bool> is_used) { is_used_ = std::move(is_used); }

  // Updates the shard's part of one bucket, and the copy that passes read.
  void update(Storage& storage, std::size_t bucket, const Shard& shard, const Update& how);
  // Updates the whole shard. With a page, every run of elements is saved first, so that another
  // rank can complete the update if this one dies in the middle.
  void update_all(Storage& storage, const Shard& shard, const Update& how, Ledger::Page* page);

 private:
  std::vector<optim::Slice> slices(Storage& storage, std::size_t bucket, const Shard& shard,
                                   double rate) const;

  Options options_;
  std::vector<bool> is_used_;
};

}  // namespace trireme::parallel::data
