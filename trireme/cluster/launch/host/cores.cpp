#include "trireme/cluster/launch/host/cores.h"

#include <algorithm>
#include <tuple>

#include "trireme/base/check.h"

namespace trireme::cluster::launch::host {
namespace {

using Unit = std::vector<int>;  // processors that are assigned together

std::vector<Processor> neighbours_together(std::vector<Processor> processors) {
  std::sort(processors.begin(), processors.end(), [](const Processor& a, const Processor& b) {
    return std::tie(a.package, a.core, a.id) < std::tie(b.package, b.core, b.id);
  });
  return processors;
}

std::vector<Unit> physical_cores(const std::vector<Processor>& sorted) {
  std::vector<Unit> cores;
  const Processor* last = nullptr;
  for (const Processor& processor : sorted) {
    const bool is_sibling =
        last != nullptr && last->package == processor.package && last->core == processor.core;
    if (!is_sibling) cores.emplace_back();
    cores.back().push_back(processor.id);
    last = &processor;
  }
  return cores;
}

std::vector<Unit> hardware_threads(const std::vector<Processor>& sorted) {
  std::vector<Unit> threads;
  for (const Processor& processor : sorted) threads.push_back({processor.id});
  return threads;
}

CoreShare share_of(const std::vector<Unit>& units, std::size_t begin, std::size_t end) {
  CoreShare share{.processors = {}, .threads = static_cast<int>(end - begin)};
  for (std::size_t i = begin; i < end; ++i) {
    share.processors.insert(share.processors.end(), units[i].begin(), units[i].end());
  }
  std::sort(share.processors.begin(), share.processors.end());
  return share;
}

}  // namespace

CorePlan plan_cores(const CoreRequest& request) {
  TRIREME_CHECK(request.ranks >= 1, "a job of ", request.ranks, " ranks");
  TRIREME_CHECK(!request.processors.empty(), "no processor to run on");
  const auto ranks = static_cast<std::size_t>(request.ranks);
  const std::vector<Processor> sorted = neighbours_together(request.processors);
  std::vector<Unit> units = physical_cores(sorted);
  if (units.size() < ranks) units = hardware_threads(sorted);

  CorePlan plan;
  const bool is_enough = units.size() >= ranks;
  plan.is_bound = request.bind && is_enough;
  plan.available = static_cast<double>(sorted.size());
  if (request.quota > 0) plan.available = std::min(plan.available, request.quota);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    CoreShare share =
        is_enough ? share_of(units, rank * units.size() / ranks, (rank + 1) * units.size() / ranks)
                  : CoreShare{};
    if (!plan.is_bound) share.processors = share_of(units, 0, units.size()).processors;
    if (request.quota > 0) {
      share.threads = std::min(share.threads, static_cast<int>(request.quota / request.ranks));
    }
    share.threads = request.threads > 0 ? request.threads : std::max(share.threads, 1);
    plan.threads += share.threads;
    plan.shares.push_back(std::move(share));
  }
  return plan;
}

std::string to_text(const std::vector<int>& processors) {
  std::string text;
  for (std::size_t i = 0; i < processors.size();) {
    std::size_t last = i;
    while (last + 1 < processors.size() && processors[last + 1] == processors[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += std::to_string(processors[i]);
    if (last > i) text += '-' + std::to_string(processors[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace trireme::cluster::launch::host
