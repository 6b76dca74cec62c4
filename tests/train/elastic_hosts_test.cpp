// Goal:   an elastic job over several hosts goes on when a worker dies or freezes, on its own host
// or
//         on another, with the bits of one that nobody disturbed.
// Method: the real programs; TRIREME_HOST makes workers of one machine claim that they are on
// several,
//         so that they share no memory and speak over TCP.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "tests/train/elastic_job.h"
#include "trireme/testing/command_process.h"

namespace trireme::train {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class ElasticHosts : public ElasticJob {
 protected:
  // A worker that is on the host that `where`, a line of shell, says of its number.
  testing::CommandProcess::Options spread_job(const std::string& where, const std::string& chaos,
                                              Words more = {}) const {
    const std::filesystem::path worker = folder_.path() / "worker";
    write_file_atomically(
        worker, "#!/bin/sh\nn=${TRIREME_WORKER:-0}\nexport TRIREME_HOST=" + where + "\nexec " +
                    build_folder() + "/trireme-worker \"$@\"\n");
    std::filesystem::permissions(worker, std::filesystem::perms::owner_all);
    more.insert(more.end(), {"elastic.spread=true", "sync.kind=auto", "--worker", worker.string()});
    return job(chaos, more);
  }
};

// Two and two: some deaths are seen by a neighbour, some only by the other host.
TEST_F(ElasticHosts, OfTwoWorkersEachGoOnBitForBit) {
  testing::CommandProcess process(spread_job(
      "$((n / 2 % 2))",
      "kill rank=1 step=8; kill rank=2 step=14 at=prepared; kill rank=0 step=22 at=update"));
  EXPECT_EQ(process.wait_exit(Deadline::after(90s)), 0) << process.out() << process.error();
  EXPECT_THAT(process.error(), HasSubstr("worker 2 was lost: killed by signal 9"));
  expect_same_bits_as(undisturbed());
}

// Each alone on its host: nobody but the store can tell.
TEST_F(ElasticHosts, OfOneWorkerEachGoOnBitForBit) {
  testing::CommandProcess process(spread_job(
      "$n", "kill rank=3 step=8 at=reduce; stop rank=1 step=16", {"elastic.heartbeat=1s"}));
  EXPECT_EQ(process.wait_exit(Deadline::after(90s)), 0) << process.out() << process.error();
  EXPECT_THAT(events(), HasSubstr("its session in the store ended"));
  EXPECT_THAT(events(), HasSubstr("no heartbeat for"));
  expect_same_bits_as(undisturbed());
}

TEST_F(ElasticHosts, KindsThatShareMemoryAreRefused) {
  testing::CommandProcess process(job("", {"elastic.spread=true", "sync.kind=zero1"}));
  EXPECT_NE(process.wait_exit(Deadline::after(60s)), 0);
  EXPECT_THAT(process.error() + process.out(), HasSubstr("sync.kind = \"all_reduce\""));
}

}  // namespace
}  // namespace trireme::train
