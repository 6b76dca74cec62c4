// The conformance suite: what every Group must do on any transport. A case uses only the Group
// interface and is run by all ranks of a world at once; conformance_sweep() runs all cases.
//
// A case that finds an error records it and continues, so that the ranks stay in step. It never
// breaks the group that it is given: operations that must fail run in sub-groups.

#pragma once

#include <span>
#include <string>
#include <string_view>

#include "trireme/base/clock.h"
#include "trireme/comm/group.h"

namespace trireme::comm::conformance {

// The failures on one rank.
class Report {
 public:
  explicit Report(int rank) : rank_(rank) {}

  // Keeps only the first few failures; the rest rarely adds information.
  void fail(const std::string& text);
  void expect(bool is_right, const std::string& text) {
    if (!is_right) fail(text);
  }
  // All failures, one per line; empty if there are none.
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
