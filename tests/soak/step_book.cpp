#include "tests/soak/step_book.h"

#include <cmath>

namespace trireme::soak {
namespace {

// Each rank sums the losses of its micro-batches before the ranks' sums are added, so another
// number of ranks causes different rounding.
constexpr double kRounding = 1e-9;

bool is_near(double a, double b) {
  return std::abs(a - b) <= kRounding * std::max(std::abs(a), std::abs(b));
}

std::string text_of(const monitor::StepLine& line) {
  char text[160];
  std::snprintf(text, sizeof(text), "worker %d: %lld samples, to %lld of pass %lld, loss %.17g",
                line.worker, static_cast<long long>(line.samples),
                static_cast<long long>(line.cursor), static_cast<long long>(line.pass), line.loss);
  return text;
}

bool is_same(const monitor::StepLine& a, const monitor::StepLine& b) {
  return a.samples == b.samples && a.pass == b.pass && a.cursor == b.cursor &&
         is_near(a.loss, b.loss);
}

}  // namespace

void StepBook::add(const monitor::StepLine& line) {
  ++count_;
  std::int64_t& before = workers_[line.worker];
  if (line.is_begin) return;
  if (before != 0 && line.step != before + 1) {
    mistakes_.push_back("worker " + std::to_string(line.worker) + " made step " +
                        std::to_string(line.step) + " after step " + std::to_string(before));
  }
  before = line.step;
  const auto [at, is_new] = steps_.emplace(line.step, line);
  if (!is_new && !is_same(at->second, line)) {
    mistakes_.push_back("step " + std::to_string(line.step) + " differs: " + text_of(at->second) +
                        "; " + text_of(line));
  }
}

void StepBook::compare(const StepBook& undisturbed, std::vector<std::string>& all) const {
  for (const auto& [step, line] : steps_) {
    const auto other = undisturbed.steps_.find(step);
    if (other == undisturbed.steps_.end() || !is_same(line, other->second)) {
      all.push_back("step " + std::to_string(step) +
                    " is not the undisturbed job's: " + text_of(line));
      return;
    }
  }
}

std::vector<std::string> StepBook::mistakes(std::int64_t steps, std::int64_t samples,
                                            const StepBook* undisturbed) const {
  std::vector<std::string> all = mistakes_;
  std::int64_t used = 0;
  for (std::int64_t step = 1; step <= steps; ++step) {
    const auto at = steps_.find(step);
    if (at == steps_.end()) {
      all.push_back("nobody made step " + std::to_string(step));
      break;
    }
    const monitor::StepLine& line = at->second;
    used += line.samples;
    if (line.pass * samples + line.cursor != used) {
      all.push_back("after step " + std::to_string(step) + " " + std::to_string(used) +
                    " samples were used, but " + text_of(line));
      break;
    }
  }
  if (last() > steps) all.push_back("step " + std::to_string(last()) + " is beyond the last");
  if (undisturbed != nullptr) compare(*undisturbed, all);
  return all;
}

}  // namespace trireme::soak
