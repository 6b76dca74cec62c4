#include "trireme/model/layer/rope.h"

#include <cmath>
#include <numbers>

#include "trireme/base/check.h"

namespace trireme::model {
namespace {

double llama3_scaled(double frequency, const RopeOptions& o) {
  const double turns = static_cast<double>(o.original_context) * frequency / (2 * std::numbers::pi);
  if (turns < o.low_frequency) return frequency / o.factor;
  if (turns > o.high_frequency) return frequency;
  const double share = (turns - o.low_frequency) / (o.high_frequency - o.low_frequency);
  return (1 - share) * frequency / o.factor + share * frequency;
}

}  // namespace

std::vector<double> rope_frequencies(const RopeOptions& options) {
  TRIREME_CHECK(options.head_width > 0 && options.head_width % 2 == 0, "a head of width ",
                options.head_width, " has no pairs");
  std::vector<double> all;
  for (std::int64_t i = 0; i < options.head_width; i += 2) {
    const double share = static_cast<double>(i) / static_cast<double>(options.head_width);
    double frequency = std::pow(options.base, -share);
    if (options.scaling == RopeScaling::Linear) frequency /= options.factor;
    if (options.scaling == RopeScaling::Llama3) frequency = llama3_scaled(frequency, options);
    all.push_back(frequency);
  }
  return all;
}

}  // namespace trireme::model
