#include "trireme/train/executor.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/stack.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <utility>

#include "trireme/base/error.h"
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
  note_loss(running, parts_.model->forward(batch.input, known), auxiliary, batch.target);
}

void Executor::note_loss(Running& running, const at::Tensor& output,
                         const std::vector<at::Tensor>& losses, const at::Tensor& target) {
  at::Tensor sum = parts_.loss->sum(output, target);
  for (const at::Tensor& more : losses) sum = sum + more;
  running.loss = sum * (1.0 / step_.terms);
  running.sums.values = Reading(values_of(running.loss, output, target));
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

// With one stage per rank, the gradients of a micro-batch arrive in its backward pass, and the
// strategy takes them one micro-batch after the other. With several, a micro-batch has passes
// between those of others: all gradients are taken as parts of the last one's.
void Executor::run_stages(const Input& step, StepTimer& timer) {
  using Kind = parallel::pipeline::Action::Kind;
  step_ = step;
  is_late_ = false;
  parallel::pipeline::Pipeline& pipeline = *parts_.pipeline;
  parallel::GradientSync& sync = *parts_.gradient_sync;
  const bool is_alone = pipeline.stages_per_rank() == 1;
  bool is_open = false;
  const std::size_t count = step.work->batches.size();
  const auto waited = [&] { return sync.passes().waited + pipeline.waited(); };
  timer.begin_passes(waited());
  std::vector<Running> running(count);
  pipeline.begin_step(input_shapes());
  for (const auto& action : pipeline.schedule(static_cast<int>(count))) {
    const auto index = static_cast<std::size_t>(action.micro_batch);
    if (action.kind == Kind::Forward) {
      forward_stage(action, running[index]);
      timer.book_pass(&StepTimes::forward, waited());
    } else if (action.kind == Kind::Backward) {
      if (is_alone) {
        sync.begin_micro_batch(index);
      } else if (!std::exchange(is_open, true)) {
        begin_last(count);
      }
      backward_stage(action, running[index]);
      if (is_alone) sync.end_micro_batch();
      timer.book_pass(&StepTimes::backward, waited());
    } else {
      pipeline.transfer(action);
    }
  }
  if (is_open) sync.end_micro_batch();
  pipeline.end_step();
  timer.book(&StepTimes::wait);
}

void Executor::forward_stage(const parallel::pipeline::Action& pass, Running& running) {
  const auto index = static_cast<std::size_t>(pass.micro_batch);
  running.sums.skipped = step_.work->batches[index].skipped;
  reach(parts_.faults, kForward, 0);
  if (!parts_.pipeline->has_passes(pass.micro_batch)) return;
  const int micro_batch = step_.work->micro_batches[index];
  const auto stage = static_cast<std::uint64_t>(pass.stage);
  parts_.device.seed(micro_batch_seed(parts_.seed, step_.updates, micro_batch) + stage);
  const data::Batch batch = this->batch(index);
  const Autocast precision(parts_.device.torch().type(), narrow_type(step_.precision));
  model::Context known = context(index, batch);
  std::vector<at::Tensor> outside;
  known.losses = &outside;
  const model::Activations out = parts_.pipeline->forward(pass, batch.input, known);
  if (!outside.empty()) {
    throw Error(ErrorCode::Unsupported,
                "a block adds its loss to Context::losses, which stages of a pipeline do not pass "
                "on; add it to Activations::losses");
  }
  if (parts_.pipeline->is_last(pass.stage)) note_loss(running, out.main, out.losses, batch.target);
}

void Executor::backward_stage(const parallel::pipeline::Action& pass, Running& running) {
  reach(parts_.faults, kBackward, 0);
  if (parts_.pipeline->has_passes(pass.micro_batch)) {
    const at::Tensor loss = std::exchange(running.loss, {});
    const bool is_scaled = loss.defined() && step_.loss_scale != 1;
    parts_.pipeline->backward(pass, is_scaled ? loss * step_.loss_scale : loss);
  }
  if (!parts_.pipeline->is_last(pass.stage)) return;
  const auto index = static_cast<std::size_t>(pass.micro_batch);
  sums_[step_.work->micro_batches[index]] = std::move(running.sums);
}

// "" for a micro-batch without samples.
std::vector<std::string> Executor::input_shapes() const {
  const Autocast precision(parts_.device.torch().type(), narrow_type(step_.precision));
  std::vector<std::string> shapes;
  for (const data::Batch& batch : step_.work->batches) {
    shapes.push_back(batch.count() > 0 ? parallel::pipeline::shape_of(batch.input) : "");
  }
  return shapes;
}

void Executor::begin_last(std::size_t micro_batches) {
  for (std::size_t i = 0; i < micro_batches; ++i) {
    if (i > 0) parts_.gradient_sync->end_micro_batch();
    parts_.gradient_sync->begin_micro_batch(i);
  }
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

// Blocks that are cut over ranks communicate, and only some of their ranks may have an output that
// is not finite: all of them run the same blocks.
std::string Executor::first_block_not_finite() {
  auto* model = dynamic_cast<model::BlockModel*>(parts_.model.get());
  if (model == nullptr || parts_.pipeline || step_.work == nullptr) return {};
  const c10::NoGradGuard no_grad;
  const Autocast precision(parts_.device.torch().type(), narrow_type(step_.precision));
  std::string first;
  for (std::size_t i = 0; i < step_.work->batches.size(); ++i) {
    if (step_.work->batches[i].count() == 0) continue;
    const data::Batch batch = this->batch(i);
    const model::Context known = context(i, batch);
    model::Activations at(batch.input);
    for (std::size_t b = 0; b < model->paths().size(); ++b) {
      at = model->forward_blocks(std::move(at), known, b, b + 1);
      if (!first.empty() || std::isfinite(at.main.sum().item<double>())) continue;
      const std::string& path = model->paths()[b];
      first = path.empty() ? "block " + std::to_string(b) : path;
    }
  }
  return first;
}

}  // namespace trireme::train
