#include "tests/conformance/sweep.h"

#include <numeric>
#include <sstream>

#include "trireme/testing/in_time.h"

namespace trireme::comm::conformance {

void Report::fail(const std::string& text) {
  constexpr int kKept = 5;
  if (count_++ >= kKept) return;
  text_ += "rank " + std::to_string(rank_) + ": " + text + "\n";
}

void Report::expect_in_time(Duration elapsed, Duration limit, const std::string& text) {
  if (elapsed <= limit) return;
  const auto ms = [](Duration time) {
    return std::to_string(std::chrono::duration<double, std::milli>(time).count()) + " ms";
  };
  fail(std::string(testing::kTooLate) + text + ": " + ms(elapsed) + ", limit " + ms(limit));
}

std::string as_failure(std::string complaints) {
  std::istringstream lines(complaints);
  bool is_late = false, is_wrong = false;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("rank ")) continue;
    (line.find(testing::kTooLate) != std::string::npos ? is_late : is_wrong) = true;
  }
  if (!is_wrong || !is_late) return complaints;
  for (std::size_t at; (at = complaints.find(testing::kTooLate)) != std::string::npos;) {
    complaints.replace(at, testing::kTooLate.size(), "and late: ");
  }
  return complaints;
}

std::vector<Case> all_cases() {
  std::vector<Case> all;
  for (const auto part :
       {reduce_cases(), move_cases(), uneven_cases(), message_cases(), flight_cases(),
        subgroup_cases(), ordered_cases(), mismatch_cases(), ending_cases()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

std::string run_case(const Group& group, const Case& one) {
  Report report(group.rank());
  try {
    std::vector<int> everybody(static_cast<std::size_t>(group.size()));
    std::iota(everybody.begin(), everybody.end(), 0);
    const Group own = group.subgroup(everybody);
    guarded(own, [&] { one.run(own, report); });
  } catch (const std::exception& thrown) {
    report.fail(std::string(one.name) + " threw: " + thrown.what());
  }
  return report.text();
}

std::string conformance_sweep(const Group& group) {
  std::string text;
  for (const Case& one : all_cases()) text += run_case(group, one);
  return text;
}

}  // namespace trireme::comm::conformance
