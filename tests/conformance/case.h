// The conformance suite: what any Group must do, whatever carries it. A case is written against
// Group alone and run by all ranks of a world at once; conformance_sweep() runs them all.
//
// A case that finds something wrong notes it and goes on, so that the ranks stay in step. It never
// spoils the group that it is given: what must fail happens in sub-groups.

#pragma once

#include <span>
#include <string>
#include <string_view>

#include "trireme/base/clock.h"
#include "trireme/comm/group.h"

namespace trireme::comm::conformance {

// What one rank has to complain about.
class Report {
 public:
  explicit Report(int rank) : rank_(rank) {}

  // Only the first few are kept: the rest is rarely news.
  void fail(const std::string& text);
  void expect(bool is_right, const std::string& text) {
    if (!is_right) fail(text);
  }
  // The best of a few rounds, where other work on the machine may have been in the way.
  void expect_in_time(Duration elapsed, Duration limit, const std::string& text);
  // All failures, one a line; empty when there is none.
  const std::string& text() const noexcept { return text_; }

 private:
  int rank_;
  int count_ = 0;
  std::string text_;
};

struct Case {
  std::string_view name;
  void (*run)(const Group& group, Report& report);
};

std::span<const Case> reduce_cases();
std::span<const Case> move_cases();
std::span<const Case> uneven_cases();
std::span<const Case> message_cases();
std::span<const Case> flight_cases();
std::span<const Case> subgroup_cases();
std::span<const Case> ordered_cases();
std::span<const Case> mismatch_cases();
std::span<const Case> ending_cases();

}  // namespace trireme::comm::conformance
