// Retry decides when a lost host is tried again: after a pause that doubles from kFirst to kLast,
// and at most kTriesMax times in a row. A connection that lasted for kSteady resets the count.
//
// Pure: the caller passes the time.

#pragma once

#include <chrono>

#include "trireme/base/clock.h"
#include "trireme/base/deadline.h"

namespace trireme::cluster::launch::hosts {

class Retry {
 public:
  static constexpr Duration kFirst = std::chrono::milliseconds(500);
  static constexpr Duration kLast = std::chrono::seconds(30);
  static constexpr Duration kSteady = std::chrono::minutes(1);
  static constexpr int kTriesMax = 40;  // takes a little over a quarter of an hour

  void on_up(TimePoint now) noexcept {
    up_ = now;
    is_up_ = true;
  }
  // The connection was lost, or could not be established.
  void on_lost(TimePoint now) noexcept;
  // A connection attempt has started.
  void on_tried() noexcept { next_ = TimePoint::max(); }

  Deadline next() const noexcept { return Deadline::at(next_); }
  bool is_given_up() const noexcept { return tries_ > kTriesMax; }

 private:
  int tries_ = 0;  // in a row
  bool is_up_ = false;
  TimePoint up_{};
  TimePoint next_ = TimePoint::max();
};

}  // namespace trireme::cluster::launch::hosts
