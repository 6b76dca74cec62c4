#include "trireme/parallel/pipeline/pipeline.h"

#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <iterator>

#include "trireme/base/check.h"
#include "trireme/device/torch/autocast.h"

namespace trireme::parallel::pipeline {
namespace {

using Kind = Action::Kind;

std::vector<at::Tensor> with_gradients(const model::Activations& activations) {
  std::vector<at::Tensor> some;
  for (const at::Tensor& tensor : activations.tensors()) {
    if (tensor.requires_grad()) some.push_back(tensor);
  }
  return some;
}

StagePlacement placement_of(const Pipeline::Parts& parts) {
  const PipelineShape shape{.ranks = parts.group.size(), .stages_per_rank = parts.stages_per_rank};
  return parts.schedule->placement(shape);
}

}  // namespace

std::string shape_of(const at::Tensor& input) {
  const at::ScalarType type = Autocast::type_on(input.device().type());
  std::string shape = std::string(c10::toString(type)) + (at::GradMode::is_enabled() ? " g" : "");
  for (const std::int64_t size : input.sizes()) shape += " " + std::to_string(size);
  return shape;
}

Pipeline::Pipeline(Parts parts)
    : parts_(std::move(parts)),
      exchange_(parts_.group, placement_of(parts_)),
      tied_(std::move(parts_.tied), exchange_, !parts_.is_ordered) {
  TRIREME_CHECK(!parts_.schedule->has_split_backward, "a pipeline with a split backward");
  TRIREME_CHECK_EQ(parts_.model->stages().size(), placement().stages_of(rank()).size(), "stages");
}

const RankSchedule& Pipeline::schedule(int micro_batches) {
  const auto known = schedules_.find(micro_batches);
  if (known != schedules_.end()) return known->second;
  const PipelineSchedule all =
      make_schedule(*parts_.schedule, {.ranks = parts_.group.size(),
                                       .stages_per_rank = parts_.stages_per_rank,
                                       .micro_batches = micro_batches});
  return schedules_[micro_batches] = all[static_cast<std::size_t>(rank())];
}

model::BlockRange Pipeline::blocks_of(int stage) const {
  const std::vector<int>& own = placement().stages_of(rank());
  const auto index = std::ranges::find(own, stage) - own.begin();
  return parts_.model->stages().at(static_cast<std::size_t>(index));
}

model::Activations Pipeline::run(int stage, model::Activations in, const model::Context& context) {
  const model::BlockRange blocks = blocks_of(stage);
  return parts_.model->forward_blocks(std::move(in), context, blocks.begin, blocks.end);
}

void Pipeline::begin_step(std::vector<std::string> shapes) {
  shapes_ = std::move(shapes);
  flights_.clear();
  const auto has_samples = [](const std::string& shape) { return !shape.empty(); };
  const auto first = std::ranges::find_if(shapes_, has_samples);
  const auto last = std::find_if(shapes_.rbegin(), shapes_.rend(), has_samples);
  tied_.begin_step(static_cast<int>(first - shapes_.begin()),
                   static_cast<int>(shapes_.rend() - last) - 1);
}

void Pipeline::transfer(const Action& action) {
  const int i = action.micro_batch;
  if (!has_passes(i)) return;
  if (action.kind == Kind::ReceiveActivations) {
    exchange_.post_activations({.stage = action.stage - 1, .micro_batch = i}, shape(i));
  } else if (action.kind == Kind::ReceiveGradients) {
    exchange_.post_gradients({.stage = action.stage, .micro_batch = i}, shape(i));
  }
  exchange_.poll();
}

model::Activations Pipeline::forward(const Action& pass, const at::Tensor& input,
                                     const model::Context& context) {
  const int stage = pass.stage, i = pass.micro_batch;
  Flight& flight = flights_[{stage, i}];
  model::Activations in(input);
  if (stage > 0) {
    in = exchange_.take_activations({.stage = stage - 1, .micro_batch = i}, shape(i));
    flight.inputs = with_gradients(in);
  }
  tied_.before_forward(stage, i);
  model::Activations out = run(stage, std::move(in), context);
  if (!is_last(stage)) {
    flight.outputs = with_gradients(out);
    exchange_.send_activations({.stage = stage, .micro_batch = i}, shape(i), out);
  }
  tied_.after_forward(stage, i);
  return out;
}

void Pipeline::backward(const Action& pass, const at::Tensor& loss) {
  const int stage = pass.stage, i = pass.micro_batch;
  Flight flight = std::move(flights_.at({stage, i}));
  flights_.erase({stage, i});
  std::vector<at::Tensor> roots{loss}, gradients{{}};
  if (!is_last(stage)) {
    roots = std::move(flight.outputs);
    gradients = exchange_.take_gradients({.stage = stage, .micro_batch = i}, shape(i));
  }
  tied_.before_backward(stage, i, roots, gradients);
  if (!roots.empty()) torch::autograd::backward(roots, gradients);
  if (stage > 0) {
    std::vector<at::Tensor> of_inputs;
    for (const at::Tensor& input : flight.inputs) of_inputs.push_back(input.grad());
    exchange_.send_gradients({.stage = stage - 1, .micro_batch = i}, shape(i),
                             std::move(of_inputs));
  }
  tied_.after_backward(stage, i);
}

void Pipeline::end_step() {
  TRIREME_CHECK(flights_.empty(), "a micro-batch without a backward pass");
  exchange_.finish();
}

std::optional<model::Activations> Pipeline::evaluate(const at::Tensor& input,
                                                     const model::Context& context) {
  const std::string shape = shape_of(input);
  exchange_.finish();
  std::optional<model::Activations> last;
  for (const int stage : placement().stages_of(rank())) {
    model::Activations in(input);
    if (stage > 0) in = exchange_.take_activations({.stage = stage - 1}, shape);
    model::Activations out = run(stage, std::move(in), context);
    if (is_last(stage)) {
      last = std::move(out);
    } else {
      exchange_.send_activations({.stage = stage}, shape, out);
    }
  }
  return last;
}

}  // namespace trireme::parallel::pipeline
