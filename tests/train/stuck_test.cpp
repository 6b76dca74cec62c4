// Goal:   a worker whose training hangs while its heartbeats go on is evicted, named and replaced,
//         and the job ends with the bits of an undisturbed one, also where no worker waits for it
//         and where it hangs before it has joined; a worker in a declared long phase is not
//         evicted.
// Method: the real programs, with a thread that sleeps at a moment of a step. With --min-workers
//         the job goes on only when a replacement has joined. Limits are a few seconds.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
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
    said_ = process.error();
    expect_same_bits_as(undisturbed());
  }
  std::string write_script(const std::string& name, const std::string& lines) const {
    const std::filesystem::path path = folder_.path() / name;
    write_file_atomically(path, "#!/bin/sh\n" + lines);
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path.string();
  }

  std::string said_;
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
  train("kill rank=1 step=6; hang rank=2 step=5 at=recovery", {"elastic.stall_minimum=1s"});
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

// None of the workers waits for another one. The job restarts from its last checkpoint.
TEST_F(StuckWorker, EndsItselfWhereNoneWaitsForIt) {
  workers_ = 2;
  train("hang rank=0 step=6; hang rank=1 step=6", {"sync.timeout=3s"});
  EXPECT_THAT(said_, HasSubstr("stuck: it made no progress for"));
  EXPECT_THAT(said_, HasSubstr("waits for no other worker"));
}

// It hangs before it has joined, so that no worker watches it: the launcher kills it, on this host
// and, in the second job, on another one.
TEST_F(StuckWorker, IsReplacedWhereItNeverJoins) {
  workers_ = 2;
  const std::string worker =
      write_script("worker", "[ \"$1 $TRIREME_RANK\" = 'train 1' ] && sleep 600\nexec " +
                                 build_folder() + "/trireme-worker \"$@\"\n");
  const std::string ssh = write_script("ssh", "export TRIREME_HOST=$1\nshift\nexec sh -c \"$*\"\n");
  Words more{"sync.timeout=2s", "--worker", worker};
  testing::CommandProcess here(job("", more));
  more.insert(more.end(), {"--hosts", "127.0.0.1:1,127.0.0.2:1", "--ssh", ssh});
  testing::CommandProcess::Options options = job("", more);
  std::ranges::replace(options.command, output().string(), output().string() + "-of-hosts");
  options.environment["TRIREME_CACHE"] = (folder_.path() / "cache").string();
  testing::CommandProcess there(options);
  const std::string why = " was lost: it did not join the job within 16.0 s of its start";
  EXPECT_EQ(here.wait_exit(Deadline::after(90s)), 0) << here.out() << here.error();
  EXPECT_THAT(here.error(), HasSubstr("worker 1" + why));
  EXPECT_EQ(there.wait_exit(Deadline::after(90s)), 0) << there.out() << there.error();
  EXPECT_THAT(there.error(), HasSubstr("worker 1 on 127.0.0.2" + why));
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
