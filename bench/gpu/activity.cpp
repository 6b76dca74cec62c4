#include "bench/gpu/activity.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace trireme::bench::gpu {
namespace {

constexpr std::size_t kNameMax = 100;

double seconds_of(std::int64_t nanoseconds) {
  return static_cast<double>(nanoseconds) * 1e-9;
}

// Of the union of all spans.
std::int64_t covered(std::span<const Span> spans) {
  std::vector<Span> sorted(spans.begin(), spans.end());
  std::ranges::sort(sorted, {}, &Span::begin);
  std::int64_t sum = 0, until = 0;
  for (const Span& span : sorted) {
    sum += std::max<std::int64_t>(span.end - std::max(span.begin, until), 0);
    until = std::max(until, span.end);
  }
  return sum;
}

}  // namespace

Activity Activity::of(std::span<const Span> spans) {
  std::map<std::string, Kernel> by_name;
  for (const Span& span : spans) {
    Kernel& kernel = by_name[span.name];
    kernel.seconds += seconds_of(span.end - span.begin);
    ++kernel.calls;
  }
  Activity all{.busy_seconds = seconds_of(covered(spans)), .kernels = {}};
  for (auto& [name, kernel] : by_name) {
    all.kernels.push_back({.name = name, .seconds = kernel.seconds, .calls = kernel.calls});
  }
  std::ranges::stable_sort(all.kernels, std::greater(), &Kernel::seconds);
  return all;
}

std::string table_of(const Activity& activity, std::int64_t steps, std::size_t count) {
  const auto per_step = 1.0 / static_cast<double>(std::max<std::int64_t>(steps, 1));
  std::string table = fmt::format("{:>9} {:>6} {:>7}  kernel\n", "ms/step", "share", "calls");
  for (const Activity::Kernel& one : activity.kernels) {
    if (count-- == 0) break;
    table += fmt::format("{:>9.3f} {:>5.1f}% {:>7.1f}  {}\n", 1e3 * one.seconds * per_step,
                         100 * one.seconds / activity.busy_seconds,
                         static_cast<double>(one.calls) * per_step, one.name.substr(0, kNameMax));
  }
  return table;
}

}  // namespace trireme::bench::gpu
