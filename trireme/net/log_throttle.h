// LogThrottle writes at most one line a second of what strangers can cause, and says with the
// next one how many it left out: nobody outside the job may fill its disk.
//
// Threads: one at a time.

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "trireme/base/clock.h"
#include "trireme/base/log.h"

namespace trireme::net {

class LogThrottle {
 public:
  explicit LogThrottle(Log log, const Clock& clock = steady_clock())
      : log_(std::move(log)), clock_(clock) {}

  void warn(std::string_view event, Record record) {
    const TimePoint now = clock_.now();
    if (last_ && now - *last_ < std::chrono::seconds(1)) {
      ++left_out_;
      return;
    }
    if (left_out_ > 0) record.add({"left_out", left_out_});
    log_.warn(event, record);
    last_ = now;
    left_out_ = 0;
  }

 private:
  Log log_;
  const Clock& clock_;
  std::optional<TimePoint> last_;
  std::uint64_t left_out_ = 0;
};

}  // namespace trireme::net
