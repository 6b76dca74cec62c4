// Goal:   contenders run in turns, their records are kept by contender and case, and a peer's
//         failure does not end the contest, while a failure of Trireme does.
// Method: shell scripts as contenders.

#include "bench/comm/contest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/error.h"

namespace trireme::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Contender contender(const std::string& who, const std::string& script) {
  return {who, who, {{"/bin/sh", "-c", script}}};
}

std::string printing(const std::string& backend, const std::string& before = "") {
  Record record;
  record.backend = backend;
  record.ranks = 2;
  record.bytes = 64;
  record.seconds = 1;
  record.is_verified = true;
  return "echo '" + before + to_json(record) + "'";
}

struct Outcome {
  bool is_whole = false;
  std::vector<std::string> order;
  std::string error;
};

Outcome run(Contest& contest, int rounds) {
  Outcome outcome;
  ::testing::internal::CaptureStderr();
  outcome.is_whole = contest.run(
      rounds, [&](const std::string& who, const Record&) { outcome.order.push_back(who); });
  outcome.error = ::testing::internal::GetCapturedStderr();
  return outcome;
}

TEST(Contest, ContendersRunInTurns) {
  Contest contest;
  contest.add(contender(kOurs, printing("shm", "[0] ")));
  contest.add(contender(kGloo, printing("gloo")));
  const Outcome outcome = run(contest, 2);
  EXPECT_TRUE(outcome.is_whole);
  EXPECT_THAT(outcome.order, ElementsAre(kOurs, kGloo, kOurs, kGloo));
  ASSERT_EQ(contest.series().size(), 2u);
  EXPECT_EQ(contest.series()[0].rounds.size(), 2u);
}

TEST(Contest, AContenderMayRunInFewerRounds) {
  Contest contest;
  contest.add(contender(kOurs, printing("shm")));
  Contender once = contender(kWire, printing("tcp"));
  once.rounds = 1;
  contest.add(once);
  EXPECT_THAT(run(contest, 3).order, ElementsAre(kOurs, kWire, kOurs, kOurs));
}

TEST(Contest, APeerThatFailsIsReportedOnceAndSkipped) {
  Contest contest;
  contest.add(contender(kGloo, "exit 4"));
  contest.add(contender(kOpenMpi, "echo no record"));
  contest.add(contender(kOurs, printing("shm")));
  const Outcome outcome = run(contest, 3);
  EXPECT_TRUE(outcome.is_whole);
  EXPECT_THAT(outcome.order, ElementsAre(kOurs, kOurs, kOurs));
  EXPECT_THAT(outcome.error, HasSubstr("SKIPPED: gloo ended with exit code 4"));
  EXPECT_EQ(outcome.error.find("SKIPPED: gloo"), outcome.error.rfind("SKIPPED: gloo"));
  EXPECT_THAT(outcome.error, HasSubstr("no record")) << "lines that are not records are shown";
}

TEST(Contest, AFailureOfTriremeEndsTheContest) {
  Contest contest;
  contest.add(contender(kOurs, "exit 4"));
  ::testing::internal::CaptureStderr();
  EXPECT_THROW(contest.run(1, [](const std::string&, const Record&) {}), Error);
  ::testing::internal::GetCapturedStderr();
}

}  // namespace
}  // namespace trireme::bench
