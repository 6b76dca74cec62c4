#include "bench/gpu/activity.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

namespace trireme::bench::gpu {
namespace {

constexpr std::size_t kNameMax = 100;

double seconds_of(std::int64_t nanoseconds) {
  return static_cast<double>(nanoseconds) * 1e-9;
}

// Of the union of all spans.
std::int64_t covered(std::span<const Span> sorted) {
  std::int64_t sum = 0, until = 0;
  for (const Span& span : sorted) {
    sum += std::max<std::int64_t>(span.end - std::max(span.begin, until), 0);
    until = std::max(until, span.end);
  }
  return sum;
}

std::vector<Activity::Pause> pauses_between(std::span<const Span> sorted) {
  std::map<std::pair<std::string, std::string>, Activity::Pause> all;
  const Span* last = nullptr;  // to end
  for (const Span& span : sorted) {
    if (last != nullptr && span.begin > last->end) {
      Activity::Pause& pause = all[{last->name, span.name}];
      pause.seconds += seconds_of(span.begin - last->end);
      ++pause.calls;
    }
    if (last == nullptr || span.end > last->end) last = &span;
  }
  std::vector<Activity::Pause> pauses;
  for (const auto& [names, pause] : all) {
    pauses.push_back({names.first, names.second, pause.seconds, pause.calls});
  }
  std::ranges::stable_sort(pauses, std::greater(), &Activity::Pause::seconds);
  return pauses;
}

std::string line_of(double seconds, double calls) {
  return fmt::format("{:>9.3f} {:>7.1f}  ", 1e3 * seconds, calls);
}

}  // namespace

Activity Activity::of(std::span<const Span> spans) {
  std::map<std::string, Kernel> by_name;
  for (const Span& span : spans) {
    Kernel& kernel = by_name[span.name];
    kernel.seconds += seconds_of(span.end - span.begin);
    ++kernel.calls;
  }
  std::vector<Span> sorted(spans.begin(), spans.end());
  std::ranges::sort(sorted, {}, &Span::begin);
  Activity all{
      .busy_seconds = seconds_of(covered(sorted)), .kernels = {}, .pauses = pauses_between(sorted)};
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

std::string table_of_pauses(const Activity& activity, std::int64_t steps, std::size_t count) {
  const auto per_step = 1.0 / static_cast<double>(std::max<std::int64_t>(steps, 1));
  double seconds = 0, calls = 0;
  for (const Activity::Pause& one : activity.pauses) {
    seconds += one.seconds;
    calls += static_cast<double>(one.calls);
  }
  std::string table = fmt::format("{:>9} {:>7}  pause\n{}all\n", "ms/step", "calls",
                                  line_of(seconds * per_step, calls * per_step));
  for (const Activity::Pause& one : activity.pauses) {
    if (count-- == 0) break;
    table += fmt::format("{}after {}, before {}\n",
                         line_of(one.seconds * per_step, static_cast<double>(one.calls) * per_step),
                         one.after.substr(0, kNameMax / 2), one.before.substr(0, kNameMax / 2));
  }
  return table;
}

}  // namespace trireme::bench::gpu
