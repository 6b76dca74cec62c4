#include "trireme/cluster/launch/elastic/restart_limit.h"

#include <array>
#include <cstddef>
#include <cstdio>

namespace trireme::cluster::launch {
namespace {

std::string ordinal(int number) {
  constexpr std::array<const char*, 4> kWords{"", "first", "second", "third"};
  return number < 4 ? kWords[static_cast<std::size_t>(number)] : std::to_string(number) + "th";
}

}  // namespace

std::string seconds_of(Duration duration) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1f s", std::chrono::duration<double>(duration).count());
  return text;
}

void RestartLimit::on_died(const Death& death) {
  if (death.age >= kQuickTime && !death.is_late) {
    quick_count_ = 0;
    return;
  }
  if (death.round == quick_round_) return;
  quick_count_ = death.round == quick_round_ + 1 ? quick_count_ + 1 : 1;
  quick_round_ = death.round;
  quick_text_ = "worker " + std::to_string(death.worker) +
                (death.is_late ? " had not joined " : " died ") + seconds_of(death.age) +
                " after its start, the " + ordinal(quick_count_) + " in a row";
}

std::string RestartLimit::crash_loop() const {
  if (quick_count_ < kQuickMax || max_ >= kUnbounded) return {};
  return "crash loop: " + quick_text_;
}

std::string RestartLimit::use(int count, bool is_restart, TimePoint now) {
  const auto needed = static_cast<std::size_t>(is_restart ? 1 : count);
  while (!restarts_.empty() && now - restarts_.front() > window_) restarts_.pop_front();
  if (restarts_.size() + needed > static_cast<std::size_t>(max_)) {
    return "restarts used up: " + std::to_string(restarts_.size()) + " within " +
           seconds_of(window_) + ", and " + std::to_string(count) +
           (count == 1 ? " worker is" : " workers are") + " missing";
  }
  restarts_.insert(restarts_.end(), needed, now);
  return {};
}

}  // namespace trireme::cluster::launch
