#include "trireme/train/executor.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/stack.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <utility>

#include "trireme/data/standard.h"
#include "trireme/device/torch/autocast.h"
#include "trireme/model/block_model.h"
#include "trireme/model/documents.h"
#include "trireme/train/micro_batch_seed.h"
#include "trireme/train/module_precision.h"

namespace trireme::train {

void Executor::run(const PassSchedule& schedule, const Input& step, StepTimer& timer) {
  step_ = step;
  is_late_ = false;
  const auto waited = [this] { return parts_.gradient_sync->passes().waited; };
  timer.begin_passes(waited());
  std::vector<Running> running(step.work->batches.size());
  try {
    for (const Pass& pass : schedule) {
      if (pass.kind == Pass::Kind::Forward) {
        forward(pass.micro_batch, running[pass.micro_batch]);
        timer.book_pass(&StepTimes::forward, waited());
      } else {
        backward(pass.micro_batch, running[pass.micro_batch]);
        timer.book_pass(&StepTimes::backward, waited());
      }
    }
  } catch (const parallel::Late&) {
    // The time so far is a lower bound for this rank's work; the balancer uses it to assign less.
    timer.book_pass(&StepTimes::backward, waited());
    is_late_ = true;
  }
}

void Executor::forward(std::size_t index, Running& running) {
  const int micro_batch = step_.work->micro_batches[index];
  running.is_kept = !parts_.gradient_sync->begin_micro_batch(index);
  if (running.is_kept) return;
  running.sums.skipped = step_.work->batches[index].skipped;
  reach(parts_.faults, kForward, 0);
  // A micro-batch may have no samples if the last batch of an epoch is small.
  if (step_.work->batches[index].count() == 0) return;
  parts_.device.seed(micro_batch_seed(parts_.seed, step_.updates, micro_batch));
  const data::Batch batch = this->batch(index);
  std::vector<at::Tensor> auxiliary;
  model::Context known = context(index, batch);
  known.losses = &auxiliary;
  const Autocast precision(parts_.device.torch().type(), narrow_type(step_.precision));
  const at::Tensor output = parts_.model->forward(batch.input, known);
  at::Tensor sum = parts_.loss->sum(output, batch.target);
  for (const at::Tensor& more : auxiliary) sum = sum + more;
  running.loss = sum * (1.0 / step_.terms);
  running.sums.values = Reading(values_of(running.loss, output, batch.target));
}

void Executor::backward(std::size_t index, Running& running) {
  if (running.is_kept) return;
  if (running.loss.defined()) {
    reach(parts_.faults, kBackward, 0);
    const at::Tensor loss = std::exchange(running.loss, {});
    const bool is_read_first = parts_.gradient_sync->passes().updates_early;
    if (!is_read_first || std::isfinite(loss.item<double>())) {
      (step_.loss_scale != 1 ? loss * step_.loss_scale : loss).backward();
    }
  }
  parts_.gradient_sync->end_micro_batch();
  sums_[step_.work->micro_batches[index]] = std::move(running.sums);
}

// In the order of micro-batches, whichever were run now.
PassSums Executor::sums() {
  if (is_late_) return {};
  PassSums sums;
  for (const int micro_batch : step_.work->micro_batches) {
    const Sums& own = sums_[micro_batch];
    sums.reported.back() += static_cast<double>(own.skipped);
    if (own.values.is_empty()) continue;
    const at::Tensor& values = own.values.wait();
    const auto* next = values.const_data_ptr<double>();
    sums.loss += *next++;
    for (std::int64_t k = 1; k < values.numel(); ++k) {
      sums.reported[static_cast<std::size_t>(k) - 1] += *next++;
    }
  }
  return sums;
}

void Executor::keep_sums(int pieces) {
  for (auto& [micro_batch, sums] : std::exchange(sums_, {})) {
    if (pieces > 0) sums_[micro_batch * pieces] = std::move(sums);
  }
}

at::Tensor Executor::values_of(const at::Tensor& loss, const at::Tensor& output,
                               const at::Tensor& target) const {
  const c10::NoGradGuard no_grad;
  const at::Tensor value = loss.detach().to(at::kDouble).reshape({1});
  const data::Form& form = parts_.loader->source().form();
  if (!form.is_regression() || output.numel() != target.numel()) return value;
  const at::Tensor off = output.detach().to(at::kDouble).reshape(target.sizes()) - target;
  const at::Tensor units = data::restored_difference(off, form.target_standards);
  const at::Tensor relative = data::standardized(off, form.target_spreads);
  const at::Tensor errors =
      at::stack({units.square().sum(), units.abs().sum(), relative.square().sum()});
  return at::cat({value, errors});
}

data::Batch Executor::batch(std::size_t index) const {
  data::Batch batch = step_.work->batches[index];
  batch.input = parts_.device.copy_in(batch.input);
  batch.target = parts_.device.copy_in(batch.target);
  return batch;
}

model::Context Executor::context(std::size_t index, const data::Batch& batch) const {
  const parallel::PassServices passes = parts_.gradient_sync->passes();
  return {.is_training = true,
          .seed = parts_.seed,
          .step = step_.updates,
          .micro_batch = step_.work->micro_batches[index],
          .places = batch.places,
          .documents = model::documents_in(batch.input, parts_.loader->source().form()),
          .homes = passes.gradient_buffers,
          .copies = passes.weights,
          .interruption = passes.interruption};
}

std::string Executor::first_block_not_finite() {
  auto* model = dynamic_cast<model::BlockModel*>(parts_.model.get());
  if (model == nullptr || step_.work == nullptr) return {};
  const c10::NoGradGuard no_grad;
  const Autocast precision(parts_.device.torch().type(), narrow_type(step_.precision));
  for (std::size_t i = 0; i < step_.work->batches.size(); ++i) {
    if (step_.work->batches[i].count() == 0) continue;
    const data::Batch batch = this->batch(i);
    const model::Context known = context(i, batch);
    model::Activations at(batch.input);
    for (std::size_t b = 0; b < model->paths().size(); ++b) {
      at = model->forward_blocks(std::move(at), known, b, b + 1);
      if (!std::isfinite(at.main.sum().item<double>())) return model->paths()[b];
    }
  }
  return {};
}

}  // namespace trireme::train
