// StepWork is what a replica runs in a step: the micro-batches that the loader assigns to it, and
// its part of the samples that earlier steps returned, because they went on without the replica
// that had them.
//
// Errors:        what Loader throws.
// Thread safety: one thread.

#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "trireme/data/loader.h"
#include "trireme/data/order/returned.h"

namespace trireme::train {

class StepWork {
 public:
  explicit StepWork(std::shared_ptr<data::Loader> loader) : loader_(std::move(loader)) {}

  // The next step's. `owners`: by micro-batch, the replica that runs it. The result is valid until
  // the next call.
  const data::StepBatches& next(const std::vector<int>& owners);

  // Takes back the samples of these replicas, so that the next step runs them. Returns how many.
  std::int64_t take_back(const std::vector<int>& left_out);

  // Samples that the next step runs in addition to its own.
  const std::vector<data::Returned>& returned() const noexcept { return returned_; }
  void set_returned(std::vector<data::Returned> samples);

 private:
  // Returned samples that a replica runs in the current step.
  struct Addition {
    int owner = 0;
    data::Returned samples;
  };

  void add_returned();

  std::shared_ptr<data::Loader> loader_;
  const data::StepBatches* given_ = nullptr;  // by the loader
  data::StepBatches work_;                    // of a step with returned samples
  std::vector<int> owners_;                   // of the current step
  std::vector<Addition> additions_;           // likewise
  std::vector<data::Returned> returned_;
  std::vector<int> left_out_;  // replicas, in the last step
};

}  // namespace trireme::train
