// LogThrottle logs events that unauthenticated clients can cause, at most one line per second. The
// next line reports how many were left out. This prevents outsiders from filling the disk.
//
// Thread safety: one thread at a time.

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
