// PassHooks serves the forward and backward passes of a micro-batch from the parts of data
// parallelism: memory for gradients, weights in the type that passes read, and an early end of
// passes whose step cannot be committed.
//
// Thread safety: the thread that runs the passes.

#pragma once

#include <functional>
#include <memory>

#include "trireme/parallel/data/gradient/micro_batch_gradients.h"
#include "trireme/parallel/data/plan/model_plan.h"
#include "trireme/parallel/data/storage/storage.h"
#include "trireme/parallel/pass_services.h"

namespace trireme::parallel::data {

class PassHooks final : public model::GradientBuffers,
                        public model::LowPrecisionWeights,
                        public model::Interruption {
 public:
  // The storage and the gradients may still be null; the pointers must stay valid.
  struct Parts {
    const ModelPlan* model = nullptr;
    const std::unique_ptr<Storage>* storage = nullptr;
    const std::unique_ptr<MicroBatchGradients>* gradients = nullptr;
    std::function<void()> check;  // throws if the step cannot be committed with this rank
  };
  explicit PassHooks(Parts parts) : parts_(std::move(parts)) {}

  at::Tensor copy_of(const at::Tensor& parameter) const override;
  at::Tensor lend(const at::Tensor& parameter) override;
  bool add_rows(const at::Tensor& parameter, const at::Tensor& rows,
                const at::Tensor& values) override;
  void throw_if_pointless() const override { parts_.check(); }

 private:
  Parts parts_;
};

}  // namespace trireme::parallel::data
