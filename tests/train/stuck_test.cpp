// Goal:   a worker whose training hangs while its heartbeats go on is evicted, named and replaced,
//         and the job ends with the bits of an undisturbed one; a worker in a declared long phase
//         is not evicted.
// Method: the real programs, with a thread that sleeps at a moment of a step. With --min-workers
//         the job goes on only when a replacement has joined. Limits are a few seconds.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "tests/train/elastic_job.h"
#include "trireme/testing/command_process.h"

namespace trireme::train {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

class StuckWorker : public ElasticJob {
 protected:
  void train(const std::string& chaos, Words more) {
    std::filesystem::remove_all(output());
    testing::CommandProcess process(job(chaos, std::move(more)));
    EXPECT_EQ(process.wait_exit(Deadline::after(90s)), 0) << process.out() << process.error();
    expect_same_bits_as(undisturbed());
  }
};

// In the training itself, and in its own part of a collective.
TEST_F(StuckWorker, IsEvictedNamedAndReplaced) {
  for (const char* moment : {"forward", "collective"}) {
    SCOPED_TRACE(moment);
    train(std::string("hang rank=2 step=6 at=") + moment,
          {"elastic.stall_minimum=1s", "--min-workers", "4"});
    EXPECT_THAT(events(),
                HasSubstr("worker 2: stuck: others wait for it, and it made no progress"));
    EXPECT_THAT(events(), HasSubstr("\"event\":\"workers joined\""));
  }
}

// While the workers agree on how to go on after the death of another one.
TEST_F(StuckWorker, IsEvictedWhereItHangsInARecovery) {
  train("kill rank=1 step=6; hang rank=2 step=6 at=recovery", {"elastic.stall_minimum=1s"});
  EXPECT_THAT(events(), HasSubstr("worker 1: its process died"));
  EXPECT_THAT(events(), HasSubstr("worker 2: stuck: others wait for it"));
}

TEST_F(StuckWorker, IsLostWhereACollectiveComesToItsDeadline) {
  train("hang rank=2 step=6",
        {"elastic.stall_minimum=0s", "sync.timeout=6s", "--min-workers", "4"});
  EXPECT_THAT(events(), HasSubstr("worker 2: rank 2 never entered"));
  for (const char* healthy : {"worker 0: ", "worker 1: ", "worker 3: "}) {
    EXPECT_THAT(events(), Not(HasSubstr(healthy)));
  }
  EXPECT_THAT(events(), HasSubstr("\"event\":\"workers joined\""));
}

// The first step of one worker takes longer than the limit, and so does the part of a checkpoint of
// another one.
TEST_F(StuckWorker, IsNotOneInADeclaredLongPhase) {
  train("hang rank=2 step=0 for=6s; hang rank=1 step=12 at=checkpoint for=6s",
        {"elastic.stall_minimum=4s"});
  EXPECT_THAT(events(), Not(HasSubstr("\"event\":\"workers lost\"")));
}

}  // namespace
}  // namespace trireme::train
