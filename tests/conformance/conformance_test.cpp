// Goal:   every case of the suite passes on ranks that are threads of one process, in worlds of 1,
//         2, 3, 4 and 7 ranks.
// Method: one test per case and world, each in its own world. Transports with real processes run
//         the same cases as one sweep per world.

#include <gtest/gtest.h>

#include <mutex>
#include <string>

#include "tests/conformance/sweep.h"
#include "trireme/comm/connect_threads.h"
#include "trireme/testing/rank_threads.h"

namespace trireme::comm::conformance {
namespace {

struct Param {
  int ranks;
  Case one;

  friend void PrintTo(const Param& param, std::ostream* out) {
    *out << param.one.name << " on " << param.ranks;
  }
};

std::vector<Param> all_params() {
  std::vector<Param> params;
  for (const int ranks : {1, 2, 3, 4, 7}) {
    for (const Case& one : all_cases()) params.push_back({ranks, one});
  }
  return params;
}

class Conformance : public ::testing::TestWithParam<Param> {};

TEST_P(Conformance, CasePasses) {
  const auto groups = connect_threads(GetParam().ranks, {.timeout = std::chrono::seconds(30)});
  std::mutex mutex;
  std::string complaints;
  testing::run_rank_threads(GetParam().ranks, [&](int rank) {
    const std::string mine = run_case(groups[static_cast<std::size_t>(rank)], GetParam().one);
    std::lock_guard lock(mutex);
    complaints += mine;
  });
  EXPECT_EQ(complaints, "");
}

INSTANTIATE_TEST_SUITE_P(Threads, Conformance, ::testing::ValuesIn(all_params()),
                         [](const auto& test) {
                           return std::string(test.param.one.name) + "_" +
                                  std::to_string(test.param.ranks);
                         });

}  // namespace
}  // namespace trireme::comm::conformance
