#include "trireme/optim/averaged.h"

#include <c10/core/GradMode.h>

#include "trireme/base/check.h"

namespace trireme::optim {

Averaged::Averaged(std::unique_ptr<Optimizer> rule, const EmaConfig& config)
    : rule_(std::move(rule)), decay_(config.decay), begin_(config.begin) {}

Averaged::Averaged(std::unique_ptr<Optimizer> rule, const SwaConfig& config)
    : rule_(std::move(rule)), begin_(config.begin), every_(config.every), is_even_(true) {}

std::vector<std::string> Averaged::state_names() const {
  std::vector<std::string> names = rule_->state_names();
  names.emplace_back(kAverageLag);
  return names;
}

double Averaged::share_of(std::int64_t step) const noexcept {
  if (step <= begin_) return 1;
  if (!is_even_) return 1 - decay_;
  const std::int64_t since = step - begin_;
  return since % every_ == 0 ? 1 / static_cast<double>(since / every_ + 1) : 0;
}

// The mean is computed from the lag and the old weights before they change; the new lag is computed
// from the mean and the new weights.
void Averaged::run(std::span<const Slice> slices, std::int64_t step, double gradient_scale,
                   Guard* /*guard*/) const {
  const c10::NoGradGuard no_grad;
  std::vector<Slice> inner(slices.begin(), slices.end());
  for (Slice& slice : inner) {
    TRIREME_CHECK(!slice.state.empty(), "no state for the mean of the weights");
    slice.state.back().add_(slice.value);
    slice.state.pop_back();
  }
  rule_->update(inner, step, gradient_scale);
  const double kept = 1 - share_of(step);
  for (const Slice& slice : slices) {
    const at::Tensor& lag = slice.state.back();
    if (kept == 0) {
      lag.zero_();
    } else {
      lag.sub_(slice.value).mul_(kept);
    }
  }
}

}  // namespace trireme::optim
