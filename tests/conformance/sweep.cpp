#include "tests/conformance/sweep.h"

#include <cstdlib>
#include <numeric>

namespace trireme::comm::conformance {

void Report::fail(const std::string& text) {
  constexpr int kKept = 5;
  if (count_++ >= kKept) return;
  text_ += "rank " + std::to_string(rank_) + ": " + text + "\n";
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

bool runs_all_worlds() {
  const char* value = std::getenv("TRIREME_TEST_ALL");
  return value != nullptr && *value != '\0';
}

std::string conformance_sweep(const Group& group) {
  std::string text;
  for (const Case& one : all_cases()) text += run_case(group, one);
  return text;
}

}  // namespace trireme::comm::conformance
