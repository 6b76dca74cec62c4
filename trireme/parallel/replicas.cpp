#include "trireme/parallel/replicas.h"

#include <ATen/ops/from_blob.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/engine.h>

#include <utility>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/comm/torch/tensor.h"
#include "trireme/parallel/consistency.h"
#include "trireme/parallel/data/coded/coded_sum.h"
#include "trireme/parallel/data/model_buffers.h"
#include "trireme/parallel/data/plan/model_plan.h"
#include "trireme/parallel/data/reduce/plain_sums.h"
#include "trireme/parallel/data/reduce/reducer.h"
#include "trireme/parallel/data/storage/flat_memory.h"
#include "trireme/parallel/gradient_hooks.h"

namespace trireme::parallel {

// The reduction of one backward pass at a time, which is a step of one micro-batch: the parts of
// data parallelism average the gradients, and this class makes the results the parameters'
// gradients.
class Replicas::Reduction {
 public:
  Reduction(torch::nn::Module& module, comm::Group group, Options options)
      : group_(std::move(group)),
        options_(std::move(options)),
        parameters_(parameters_of(module)),
        buffers_(options_.has_shared_buffers ? module.buffers() : std::vector<at::Tensor>(), {}),
        hooks_(parameters_, [this](std::size_t parameter) { on_gradient(parameter); }) {
    const c10::NoGradGuard no_grad;
    expect_on_cpu(parameters_);
    expect_one_type(parameters_);
    if (options_.codec) expect_float32(parameters_);
    expect_same_parameters(group_, parameters_);
    // This includes frozen parameters, which parameters_ does not contain.
    for (const at::Tensor& parameter : module.parameters()) {
      comm::broadcast(group_, parameter.detach(), 0, {.label = "first weights"}).wait();
    }
    share_buffers();
  }

  void share_buffers() const { buffers_.broadcast(group_); }

  int paused = 0;

 private:
  void on_gradient(std::size_t parameter) {
    if (paused > 0) return;
    if (!is_running_) begin();
    if (!gradients_) {
      arrival_.push_back(parameter);
      return;
    }
    gradients_->take(parameter);
    reducer_->poll();
  }

  void begin() {
    is_running_ = true;
    ++plan_.step;
    arrival_.clear();
    if (gradients_) begin_buckets();
    // If the pass throws, autograd destroys the callback without calling it. `watch` then goes with
    // it and ends the reductions in flight.
    const std::shared_ptr<void> watch(this, [this](void*) { abandon(); });
    torch::autograd::Engine::get_default_engine().queue_callback([this, watch] { finish(); });
  }

  void begin_buckets() {
    gradients_->begin_step(plan_, false, 0);
    reducer_->begin_step(plan_);
    gradients_->begin(0);
  }

  // All ranks launch the same buckets, wherever their passes threw.
  void abandon() noexcept {
    if (!std::exchange(is_running_, false) || !gradients_) return;
    try {
      reducer_->finish();
    } catch (const Error&) {
      // The group has failed and reports the error again at its next use.
    }
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      if (gradients_->is_used(i)) parameters_[i].tensor.mutable_grad() = views_[i];
    }
  }

  // The end of backward: reduces the remaining buckets and sets the gradients.
  void finish() {
    const c10::NoGradGuard no_grad;
    if (!gradients_) lay_out();
    std::vector<std::int32_t> used;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      gradients_->take(i);  // if it has one from earlier passes
      used.push_back(gradients_->is_used(i) ? 1 : 0);
    }
    gradients_->end();
    group_
        .all_reduce({used.data(), used.size(), comm::DType::Int32}, comm::ReduceOp::Max,
                    {.label = "used parameters"})
        .wait();
    reducer_->finish();
    sum_->commit();
    if (options_.codec) gradients_->memory().div_(group_.size());
    is_running_ = false;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      if (used[i] != 0) parameters_[i].tensor.mutable_grad() = views_[i];
    }
    share_buffers();
  }

  // The order of gradients in rank 0's first backward pass decides the buckets.
  void lay_out() {
    const std::vector<std::size_t> mine = data::order_of(arrival_, parameters_.size());
    std::vector<std::int64_t> order(mine.begin(), mine.end());
    group_.broadcast({order.data(), order.size(), comm::DType::Int64}, 0, {.label = "order"})
        .wait();
    layout_.plan =
        data::ModelPlan(parameters_, nullptr).buckets(order, {.bytes = options_.bucket_size});
    for (const auto& bucket : layout_.plan.buckets) layout_.own.push_back(bucket.range);
    const at::ScalarType type = parameters_[0].tensor.scalar_type();
    gradients_ = std::make_unique<data::MicroBatchGradients>(
        layout_.plan, parameters_,
        data::MicroBatchGradients::Options{
            .is_in_parts = options_.is_in_parts,
            .allocate = [=, this](auto count) { return data::private_flat(group_, count, type); },
            .full = [this](std::size_t bucket) { reducer_->launch(bucket); }});
    layout_.reduced = {gradients_->memory(), false, {}};
    sum_ = make_sum();
    reducer_ = std::make_unique<data::BucketReducer>(data::BucketReducer::Options{
        .gradients = gradients_.get(), .layout = &layout_, .plain = {.first = sum_.get()}});
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      // Autograd must not see these tensors as views, because zero_grad() cannot detach a view.
      const at::Tensor part =
          layout_.reduced.at(layout_.plan.bucket_of[i], layout_.plan.range_of[i]);
      views_.push_back(at::from_blob(
          part.mutable_data_ptr(), parameters_[i].tensor.sizes(),
          [kept = gradients_->memory()](void*) {}, part.options()));
    }
    begin_buckets();
  }

  std::unique_ptr<data::BucketSum> make_sum() const {
    if (!options_.codec) {
      return std::make_unique<data::AllReduceSum>(group_, comm::ReduceOp::Mean);
    }
    return std::make_unique<data::CodedSum>(
        data::CodedSum::Options{.group = group_, .codec = options_.codec}, layout_.plan,
        parameters_);
  }

  comm::Group group_;
  Options options_;
  std::vector<Parameter> parameters_;
  data::ModelBuffers buffers_;
  StepPlan plan_{.step = -1};         // of the backward pass, which counts as a step
  bool is_running_ = false;           // a backward pass that is synchronized
  std::vector<std::size_t> arrival_;  // of the first pass's gradients
  // Null before the first layout:
  data::StorageLayout layout_;
  std::unique_ptr<data::MicroBatchGradients> gradients_;
  std::unique_ptr<data::BucketSum> sum_;
  std::unique_ptr<data::Reducer> reducer_;
  std::vector<at::Tensor> views_;  // by parameter
  GradientHooks hooks_;
};

Replicas::Replicas(torch::nn::Module& module, const comm::Group& group, const Options& options)
    : reduction_(std::make_unique<Reduction>(module, group, options)) {}

Replicas::~Replicas() = default;

void Replicas::share_buffers() {
  reduction_->share_buffers();
}

Replicas::Pause::Pause(Replicas& replicas) : replicas_(replicas) {
  ++replicas_.reduction_->paused;
}

Replicas::Pause::~Pause() {
  --replicas_.reduction_->paused;
}

}  // namespace trireme::parallel
