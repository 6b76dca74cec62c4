#include "trireme/optim/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "trireme/base/check.h"

namespace trireme::optim {

Schedule::Schedule(const Options& options) : options_(options) {
  TRIREME_CHECK(options.rate >= 0 && options.warmup >= 0 && options.every >= 1, "a rate of ",
                options.rate, ", a warm-up of ", options.warmup, ", drops every ", options.every);
}

double Schedule::rate(std::int64_t step) const noexcept {
  const Options& o = options_;
  if (step < o.warmup) {
    return o.rate * static_cast<double>(step + 1) / static_cast<double>(o.warmup);
  }
  const std::int64_t since = step - o.warmup;
  const auto length = static_cast<double>(std::max<std::int64_t>(1, o.steps - o.warmup));
  const double share = std::min(1.0, static_cast<double>(since) / length);
  switch (o.kind) {
    case Kind::Constant:
      return o.rate;
    case Kind::Step:
      return o.rate * std::pow(o.factor, static_cast<double>(since / o.every));
    case Kind::Linear:
      return o.rate * (1 + (o.final_factor - 1) * share);
    case Kind::Cosine:
      return o.rate *
             (o.final_factor + (1 - o.final_factor) * (1 + std::cos(std::numbers::pi * share)) / 2);
  }
  return o.rate;
}

}  // namespace trireme::optim
