#include "bench/gpu/rank/profile.h"

#include <torch/csrc/autograd/profiler_kineto.h>

#include <set>
#include <vector>

namespace trireme::bench::gpu {

Activity profile(const std::function<void()>& run) {
  using torch::profiler::impl::ActivityType;
  const torch::profiler::impl::ProfilerConfig config(torch::profiler::impl::ProfilerState::KINETO);
  const std::set<ActivityType> activities{ActivityType::CUDA};
  torch::autograd::profiler::prepareProfiler(config, activities);
  torch::autograd::profiler::enableProfiler(config, activities);
  run();
  const auto result = torch::autograd::profiler::disableProfiler();
  std::vector<Span> spans;
  for (const auto& event : result->events()) {
    if (event.deviceType() != c10::DeviceType::CUDA) continue;
    spans.push_back({.name = event.name(),
                     .begin = static_cast<std::int64_t>(event.startNs()),
                     .end = static_cast<std::int64_t>(event.startNs() + event.durationNs())});
  }
  return Activity::of(spans);
}

}  // namespace trireme::bench::gpu
