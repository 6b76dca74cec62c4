#include "trireme/train/evaluate/ensemble.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/linalg_solve.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/one_hot.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/base/philox.h"
#include "trireme/data/source/subset_source.h"
#include "trireme/train/evaluate/tally.h"

namespace trireme::train {
namespace {

constexpr std::uint64_t kHalfKey = 0x454E53454D424C45;
constexpr int kNewtonSteps = 50;
constexpr double kEnough = 1e-9;  // relative to the objective, which grows with the sample count
// The cost of fitting a stack grows with the cube of the number of classes.
constexpr std::int64_t kStackedClassesMax = 100;

at::Tensor stacked(std::span<const at::Tensor> outputs) {
  return at::stack(at::TensorList(outputs.data(), outputs.size()));
}

// (N, C, M)
at::Tensor features_of(std::span<const at::Tensor> outputs) {
  return stacked(outputs).to(at::kDouble).log_softmax(-1).permute({1, 2, 0});
}

// The objective that is minimized over theta, which holds the weights and then the offsets.
struct StackFit {
  at::Tensor x{};      // (N, C, M)
  at::Tensor hot{};    // (N, C)
  at::Tensor prior{};  // (M + C)
  std::int64_t members = 0;

  at::Tensor logits(const at::Tensor& theta) const {
    return x.matmul(theta.narrow(0, 0, members)) +
           theta.narrow(0, members, theta.size(0) - members);
  }
  double value(const at::Tensor& theta) const {
    const at::Tensor off = theta - prior;
    return (-(hot * logits(theta).log_softmax(-1)).sum() + off.square().sum() / 2).item<double>();
  }
  // The Newton step at theta.
  at::Tensor step(const at::Tensor& theta) const {
    const std::int64_t classes = hot.size(1);
    const at::Tensor p = logits(theta).softmax(-1);
    const at::Tensor over = p - hot;
    const at::Tensor slope =
        at::cat({x.mul(over.unsqueeze(-1)).sum(at::IntArrayRef{0, 1}), over.sum(0)}) + theta -
        prior;
    // The derivative of the logits with respect to theta: (N, C, M + C).
    const at::Tensor rows =
        at::cat({x, at::eye(classes, x.options()).expand({x.size(0), classes, classes})}, -1);
    const at::Tensor weighted = rows * p.unsqueeze(-1);
    const at::Tensor mean = weighted.sum(1);
    const at::Tensor bend = rows.flatten(0, 1).t().matmul(weighted.flatten(0, 1)) -
                            mean.t().matmul(mean) + at::eye(theta.size(0), x.options());
    return at::linalg_solve(bend, slope);
  }
};

std::vector<PanelMember> with_half(std::vector<PanelMember> members, SampleHalf half) {
  for (PanelMember& member : members) {
    member.source =
        std::make_shared<data::SubsetSource>(member.source, half_of(member.source->count(), half));
  }
  return members;
}

Stack fit_stack(const std::vector<PanelMember>& members, const PanelOptions& options) {
  std::vector<std::vector<at::Tensor>> outputs(members.size());
  std::vector<at::Tensor> truth;
  ask_panel(with_half(members, SampleHalf::Fitted), options, [&](const PanelAnswers& answers) {
    if (answers.batch.count() == 0) return;
    for (std::size_t i = 0; i < members.size(); ++i) outputs[i].push_back(answers.outputs[i]);
    truth.push_back(answers.batch.target.clone());
  });
  if (truth.empty()) {
    throw Error(ErrorCode::InvalidInput, "none of the samples to fit a stack on could be read");
  }
  std::vector<at::Tensor> all;
  for (const std::vector<at::Tensor>& of_member : outputs) all.push_back(at::cat(of_member));
  return Stack::fit(all, at::cat(truth));
}

void check_blend(Blend blend, const data::Source& source) {
  const data::Form& form = source.form();
  if (!form.tasks.empty()) {
    throw Error(ErrorCode::InvalidInput,
                "ensembles of models with several tasks are not supported");
  }
  if (blend == Blend::Average) return;
  if (form.classes == 0) {
    throw Error(ErrorCode::InvalidInput,
                "--ensemble vote and stack require classes, but these targets are numbers; use "
                "average");
  }
  if (blend == Blend::Vote) return;
  const bool is_too_few = half_of(source.count(), SampleHalf::Fitted).empty() ||
                          half_of(source.count(), SampleHalf::Reported).empty();
  if (!form.target_sizes.empty() || form.classes > kStackedClassesMax || is_too_few) {
    throw Error(ErrorCode::InvalidInput,
                "--ensemble stack requires several samples of one class each, and at most " +
                    std::to_string(kStackedClassesMax) + " classes; use average or vote");
  }
}

at::Tensor blended(const PanelAnswers& answers, Blend blend, const std::optional<Stack>& stack,
                   bool has_classes) {
  if (answers.batch.count() == 0) return {};
  if (stack) return stack->answer(answers.outputs);
  if (blend == Blend::Vote) return vote(answers.outputs);
  return has_classes ? average_classes(answers.outputs) : average_numbers(answers.outputs);
}

}  // namespace

at::Tensor average_classes(std::span<const at::Tensor> outputs) {
  // Not the logarithm of the mean probability, which would be -inf if all members give a class a
  // tiny probability.
  const auto members = static_cast<double>(outputs.size());
  return stacked(outputs).log_softmax(-1).logsumexp(0) - std::log(members);
}

at::Tensor average_numbers(std::span<const at::Tensor> outputs) {
  return stacked(outputs).mean(0);
}

at::Tensor vote(std::span<const at::Tensor> outputs) {
  const at::Tensor all = stacked(outputs);
  const at::Tensor votes =
      all.softmax(-1).mean(0) + at::one_hot(all.argmax(-1), all.size(-1)).sum(0);
  const at::Tensor share = votes / static_cast<double>(outputs.size() + 1);
  return share.clamp_min(std::numeric_limits<float>::min()).log();
}

Stack Stack::fit(std::span<const at::Tensor> outputs, const at::Tensor& truth) {
  TRIREME_CHECK(!outputs.empty(), "an ensemble requires at least one member");
  StackFit fit{.x = features_of(outputs), .members = std::ssize(outputs)};
  const std::int64_t classes = fit.x.size(1);
  fit.hot = at::one_hot(truth, classes).to(at::kDouble);
  fit.prior = at::zeros({fit.members + classes}, at::kDouble);
  fit.prior.narrow(0, 0, fit.members).fill_(1.0 / static_cast<double>(fit.members));
  at::Tensor theta = fit.prior.clone();
  double value = fit.value(theta);
  for (int i = 0; i < kNewtonSteps; ++i) {
    at::Tensor step = fit.step(theta);
    double next = fit.value(theta - step);
    // Far from the minimum a whole Newton step may be too long, but its direction always descends.
    for (int halved = 0; !(next <= value) && halved < 30; ++halved) {
      step = step / 2;
      next = fit.value(theta - step);
    }
    if (!(next < value)) break;
    theta = theta - step;
    const double gained = value - next;
    value = next;
    if (gained < kEnough * (1 + std::abs(value))) break;
  }
  Stack stack;
  stack.weights_ = theta.narrow(0, 0, fit.members);
  stack.offsets_ = theta.narrow(0, fit.members, classes);
  return stack;
}

at::Tensor Stack::answer(std::span<const at::Tensor> outputs) const {
  const at::Tensor logits = features_of(outputs).matmul(weights_) + offsets_;
  return logits.log_softmax(-1).to(at::kFloat);
}

std::vector<double> Stack::weights() const {
  const double* const first = weights_.const_data_ptr<double>();
  return {first, first + weights_.numel()};
}

std::vector<std::int64_t> half_of(std::int64_t count, SampleHalf half) {
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto index = static_cast<std::uint64_t>(i);
    const bool is_fitted = (philox(philox_key(kHalfKey), philox_counter(index, 0))[0] & 1) != 0;
    if (is_fitted == (half == SampleHalf::Fitted)) all.push_back(i);
  }
  return all;
}

EnsembleScores score_ensemble(std::vector<PanelMember> members, Blend blend,
                              const PanelOptions& options) {
  check_blend(blend, *members.front().source);
  std::optional<Stack> stack;
  if (blend == Blend::Stack) {
    stack = fit_stack(members, options);
    members = with_half(std::move(members), SampleHalf::Reported);
  }
  const data::Source& source = *members.front().source;
  Tally together(source, *options.loss, can_rank(source));
  std::vector<Tally> tallies(members.size(), together);
  ask_panel(members, options, [&](const PanelAnswers& answers) {
    for (std::size_t i = 0; i < members.size(); ++i) {
      tallies[i].add(answers.first, answers.outputs[i], answers.batch);
    }
    together.add(answers.first, blended(answers, blend, stack, source.form().classes > 0),
                 answers.batch);
  });
  EnsembleScores scores{
      .members = {}, .ensemble = together.finish(), .weights = {}, .samples = source.count()};
  for (Tally& tally : tallies) scores.members.push_back(tally.finish());
  if (stack) scores.weights = stack->weights();
  return scores;
}

}  // namespace trireme::train
