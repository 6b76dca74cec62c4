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
    more.insert(more.end(), {"elastic.spread=true", "--worker", worker.string()});
    return job(chaos, more);
  }
};

// Two and two: some deaths are seen by a neighbour, some only by the other host.
TEST_F(ElasticHosts, OfTwoWorkersEachGoOnBitForBit) {
  for (const char* kind : {"auto", "zero3", "all_reduce"}) {
    SCOPED_TRACE(kind);
    std::filesystem::remove_all(output());
    testing::CommandProcess process(spread_job(
        "$((n / 2 % 2))",
        "kill rank=1 step=8; kill rank=2 step=14 at=prepared; kill rank=0 step=22 at=update",
        {std::string("sync.kind=") + kind}));
    EXPECT_EQ(process.wait_exit(Deadline::after(90s)), 0) << process.out() << process.error();
    EXPECT_THAT(process.error(), HasSubstr("worker 2 was lost: killed by signal 9"));
    expect_same_bits_as(undisturbed());
  }
}

// What a host held of the weights and of the optimizer's state goes with it: the other one has all
// of it, too, whatever the moment.
TEST_F(ElasticHosts, GoOnWhenOneOfThemIsGone) {
  for (const char* chaos : {"kill rank=2 step=12 at=update; kill rank=3 step=12 at=update",
                            "kill rank=0 step=12 at=reduce; kill rank=1 step=11 at=recovery"}) {
    SCOPED_TRACE(chaos);
    std::filesystem::remove_all(output());
    testing::CommandProcess process(
        spread_job("$((n / 2 % 2))", chaos, {"sync.kind=zero1", "train.steps=60"}));
    EXPECT_EQ(process.wait_exit(Deadline::after(90s)), 0) << process.out() << process.error();
    expect_same_bits_as(undisturbed(60));
  }
}

// Until the dead one is replaced, which takes longer than the steps that are left, one host has two
// workers and the other one: slices are cut in two ways. As in
// ElasticJob.WithoutVirtualRanksEndsNearby, a hundredth of what weights move is allowed.
TEST_F(ElasticHosts, OfUnequalNumbersEndNearbyWithoutVirtualRanks) {
  const Words fixed = {"train.virtual_ranks=0", "model.dropout=0"};
  Words words = fixed;
  words.push_back("sync.kind=zero1");
  testing::CommandProcess process(
      spread_job("$((n / 2 % 2))", "kill rank=2 step=6 at=backward", words));
  EXPECT_EQ(process.wait_exit(Deadline::after(90s)), 0) << process.out() << process.error();
  const auto found = checkpoint::Checkpoint::newest_whole(output() / "checkpoints");
  ASSERT_TRUE(found.checkpoint) << "no checkpoint";
  for (const auto& [name, value] : undisturbed(kElasticSteps, fixed)) {
    at::Tensor read = at::empty_like(value);
    found.checkpoint->read_into(name, read);
    EXPECT_LT((read - value).abs().max().item<double>(), 4e-3) << name;
  }
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

}  // namespace
}  // namespace trireme::train
