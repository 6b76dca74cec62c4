#include "trireme/parallel/replicas.h"

#include <ATen/ops/from_blob.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/engine.h>

#include <utility>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/comm/torch/tensor.h"
#include "trireme/parallel/consistency.h"
#include "trireme/parallel/data/plan/bucket_plan.h"
#include "trireme/parallel/data/storage/flat_memory.h"
#include "trireme/parallel/gradient_hooks.h"
#include "trireme/parallel/parameter.h"

namespace trireme::parallel {

// The reduction of one backward pass at a time: it copies gradients to buckets, averages the
// buckets over all ranks, and makes the results the parameters' gradients.
class Replicas::Reduction {
 public:
  Reduction(torch::nn::Module& module, comm::Group group, const Options& options)
      : group_(std::move(group)),
        options_(options),
        parameters_(parameters_of(module)),
        buffers_(module.buffers()),
        hooks_(parameters_, [this](std::size_t parameter) { on_gradient(parameter); }) {
    const c10::NoGradGuard no_grad;
    expect_one_type(parameters_);
    expect_same_parameters(group_, parameters_);
    // This includes frozen parameters, which parameters_ does not contain.
    for (const at::Tensor& parameter : module.parameters()) {
      comm::broadcast(group_, parameter.detach(), 0, {.label = "first weights"}).wait();
    }
    share_buffers();
    lay_out(data::order_of({}, parameters_.size()));
  }

  void share_buffers() {
    if (!options_.has_shared_buffers) return;
    for (const at::Tensor& buffer : buffers_) {
      comm::broadcast(group_, buffer, 0, {.label = "buffers"}).wait();
    }
  }

  int paused = 0;

 private:
  void lay_out(const std::vector<std::size_t>& order) {
    if (parameters_.empty()) return;
    std::vector<data::BucketPlan::Parameter> shapes;
    for (const Parameter& parameter : parameters_) shapes.push_back({parameter.tensor.numel(), 0});
    const at::ScalarType type = parameters_[0].tensor.scalar_type();
    const auto element = static_cast<std::int64_t>(c10::elementSize(type));
    plan_ = data::BucketPlan::make(
        shapes, order, {.bucket_count = std::max<std::int64_t>(options_.bucket_size / element, 1)});
    memory_ = data::private_flat(group_, plan_.count, type);
    views_.clear();
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      // Autograd must not see these tensors as views, because zero_grad() cannot detach a view.
      const at::Tensor part = memory_.narrow(0, plan_.range_of[i].begin, plan_.range_of[i].count());
      views_.push_back(at::from_blob(
          part.mutable_data_ptr(), parameters_[i].tensor.sizes(), [kept = memory_](void*) {},
          memory_.options()));
    }
  }

  void on_gradient(std::size_t parameter) {
    if (paused > 0) return;
    if (!is_running_) begin();
    if (std::exchange(has_come_[parameter], char{1}) != 0) return;
    arrival_.push_back(parameter);
    --missing_[plan_.bucket_of[parameter]];
    if (options_.is_in_parts) return;
    while (launched_ < missing_.size() && missing_[launched_] == 0) launch(launched_++);
    // Reductions in flight make progress while backward computes.
    for (comm::TensorWork& work : works_) {
      if (!work.is_done()) break;
    }
  }

  void begin() {
    is_running_ = true;
    has_come_.assign(parameters_.size(), 0);
    arrival_.clear();
    missing_.clear();
    for (const auto& bucket : plan_.buckets) missing_.push_back(bucket.entries.size());
    launched_ = 0;
    // If the pass throws, autograd destroys the callback without calling it. `watch` then goes with
    // it and ends the reductions in flight.
    const std::shared_ptr<void> watch(this, [this](void*) { abandon(); });
    torch::autograd::Engine::get_default_engine().queue_callback([this, watch] { finish(); });
  }

  void abandon() noexcept {
    if (!std::exchange(is_running_, false)) return;
    for (comm::TensorWork& work : works_) {
      try {
        work.wait();
      } catch (const Error&) {
        // The group has failed and reports the error again at its next use.
      }
    }
    works_.clear();
  }

  // Copies the gradients to the bucket and begins its all-reduce.
  void launch(std::size_t bucket) {
    const c10::NoGradGuard no_grad;
    for (const auto& entry : plan_.buckets[bucket].entries) {
      const at::Tensor& gradient = parameters_[entry.parameter].tensor.grad();
      at::Tensor& view = views_[entry.parameter];
      if (!gradient.defined()) {
        view.zero_();
      } else if (gradient.is_sparse()) {
        view.copy_(gradient.to_dense());
      } else if (gradient.const_data_ptr() != view.const_data_ptr()) {
        view.copy_(gradient);
      }
    }
    const data::ElementRange range = plan_.buckets[bucket].range;
    works_.push_back(comm::all_reduce(group_, memory_.narrow(0, range.begin, range.count()),
                                      comm::ReduceOp::Mean,
                                      {.label = "bucket " + std::to_string(bucket)}));
  }

  // The end of backward: reduces the remaining buckets and sets the gradients.
  void finish() {
    is_running_ = false;
    const c10::NoGradGuard no_grad;
    std::vector<std::int32_t> used;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      used.push_back(parameters_[i].tensor.grad().defined() ? 1 : 0);
    }
    while (launched_ < missing_.size()) launch(launched_++);
    group_
        .all_reduce({used.data(), used.size(), comm::DType::Int32}, comm::ReduceOp::Max,
                    {.label = "used parameters"})
        .wait();
    for (comm::TensorWork& work : works_) work.wait();
    works_.clear();
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      if (used[i] != 0) parameters_[i].tensor.mutable_grad() = views_[i];
    }
    share_buffers();
    if (!is_ordered_) follow_arrival();
  }

  // The order of gradients in rank 0's first backward pass decides the buckets of all later passes.
  void follow_arrival() {
    is_ordered_ = true;
    const std::vector<std::size_t> mine = data::order_of(arrival_, parameters_.size());
    std::vector<std::int64_t> order(mine.begin(), mine.end());
    group_.broadcast({order.data(), order.size(), comm::DType::Int64}, 0, {.label = "order"})
        .wait();
    const std::vector<at::Tensor> before = views_;
    lay_out({order.begin(), order.end()});
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      at::Tensor& gradient = parameters_[i].tensor.mutable_grad();
      if (!gradient.defined()) continue;
      views_[i].copy_(before[i]);
      gradient = views_[i];
    }
  }

  comm::Group group_;
  Options options_;
  std::vector<Parameter> parameters_;
  std::vector<at::Tensor> buffers_;
  data::BucketPlan plan_;
  at::Tensor memory_;
  std::vector<at::Tensor> views_;  // by parameter
  bool is_ordered_ = false;        // by the first backward
  bool is_running_ = false;
  std::vector<char> has_come_;
  std::vector<std::size_t> arrival_;
  std::vector<std::size_t> missing_;  // by bucket
  std::size_t launched_ = 0;
  std::vector<comm::TensorWork> works_;
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
