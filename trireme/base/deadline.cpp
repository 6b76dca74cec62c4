#include "trireme/base/deadline.h"

#include <algorithm>
#include <limits>

namespace trireme {

Deadline Deadline::after(Duration timeout) {
  const TimePoint now = steady_clock().now();
  if (timeout >= TimePoint::max() - now) return never();
  return Deadline(now + std::max(timeout, Duration::zero()));
}

Duration Deadline::remaining() const {
  if (is_never()) return Duration::max();
  return std::max(when_ - steady_clock().now(), Duration::zero());
}

int Deadline::poll_timeout() const {
  if (is_never()) return -1;
  const auto whole = std::chrono::ceil<std::chrono::milliseconds>(remaining()).count();
  return static_cast<int>(std::min<long long>(whole, std::numeric_limits<int>::max()));
}

}  // namespace trireme
