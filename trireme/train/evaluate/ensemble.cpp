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

#include "trireme/base/check.h"
#include "trireme/base/philox.h"

namespace trireme::train {
namespace {

constexpr std::uint64_t kHalfKey = 0x454E53454D424C45;
constexpr int kNewtonSteps = 50;
constexpr double kEnough = 1e-9;  // relative to the objective, which grows with the sample count

at::Tensor mean_share(std::span<const at::Tensor> outputs) {
  at::Tensor sum;
  for (const at::Tensor& output : outputs) {
    const at::Tensor share = output.softmax(-1);
    sum = sum.defined() ? sum + share : share;
  }
  return sum / static_cast<double>(outputs.size());
}

// (N, C, M)
at::Tensor features_of(std::span<const at::Tensor> outputs) {
  std::vector<at::Tensor> all;
  for (const at::Tensor& output : outputs) all.push_back(output.to(at::kDouble).log_softmax(-1));
  return at::stack(all, -1);
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

}  // namespace

at::Tensor average_classes(std::span<const at::Tensor> outputs) {
  // Not the logarithm of mean_share(), which would be -inf if all members give a class a tiny
  // probability.
  std::vector<at::Tensor> logs;
  for (const at::Tensor& output : outputs) logs.push_back(output.log_softmax(-1));
  return at::stack(logs).logsumexp(0) - std::log(static_cast<double>(outputs.size()));
}

at::Tensor average_numbers(std::span<const at::Tensor> outputs) {
  at::Tensor sum = outputs.front();
  for (const at::Tensor& output : outputs.subspan(1)) sum = sum + output;
  return sum / static_cast<double>(outputs.size());
}

at::Tensor vote(std::span<const at::Tensor> outputs) {
  at::Tensor votes = mean_share(outputs);
  for (const at::Tensor& output : outputs) {
    votes = votes + at::one_hot(output.argmax(-1), output.size(-1));
  }
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

}  // namespace trireme::train
