// Goal:   an elastic job on several hosts continues when a worker dies or freezes, on the same host
//         or on another, and ends with the bits of an undisturbed job.
// Method: the real programs; with TRIREME_HOST, workers on one machine claim to be on several
//         hosts, so that they share no memory and communicate over TCP.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "tests/train/elastic_job.h"
#include "trireme/checkpoint/format/folder.h"
#include "trireme/testing/command_process.h"

namespace trireme::train {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

class ElasticHosts : public ElasticJob {
 protected:
  // Where `line` of shell, which may look at a worker's number $n, comes before each.
  testing::CommandProcess::Options job_after(const std::string& line, const std::string& chaos,
                                             Words more = {}) const {
    const std::filesystem::path worker = folder_.path() / "worker";
    write_file_atomically(worker, "#!/bin/sh\nn=${TRIREME_WORKER:-0}\n" + line + "\nexec " +
                                      build_folder() + "/trireme-worker \"$@\"\n");
    std::filesystem::permissions(worker, std::filesystem::perms::owner_all);
    more.insert(more.end(), {"--worker", worker.string()});
    return job(chaos, more);
  }
  // A worker is on the host that `where` says of its number.
  testing::CommandProcess::Options spread_job(const std::string& where, const std::string& chaos,
                                              Words more = {}) const {
    more.emplace_back("elastic.spread=true");
    return job_after("export TRIREME_HOST=" + where, chaos, more);
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
  const Words fixed = {"train.logical_ranks=0", "model.dropout=0"};
  for (const Words& kind :
       {Words{"sync.kind=zero1"}, Words{"sync.kind=hierarchical", "sync.across=gradients"}}) {
    Words words = fixed;
    words.insert(words.end(), kind.begin(), kind.end());
    std::filesystem::remove_all(output());
    testing::CommandProcess process(
        spread_job("$((n / 2 % 2))", "kill rank=2 step=6 at=backward", words));
    EXPECT_EQ(process.wait_exit(Deadline::after(90s)), 0) << process.out() << process.error();
    const Weights alone = undisturbed(kElasticSteps, fixed);
    for (const auto& [name, read] : saved(alone)) {
      EXPECT_LT((read - alone.at(name)).abs().max().item<double>(), 4e-3) << name;
    }
  }
}

// One worker of each host is its leader; those die, and are replaced. Ranks are compared after
// every step, and what int8 loses is made up for.
TEST_F(ElasticHosts, UseACodecAfterTheRankThatSendsForAHostDies) {
  const Words fixed = {"train.logical_ranks=0", "model.dropout=0", "optim.kind=sgd",
                       "optim.lr=0.02",         "train.steps=120", "checkpoint.every=40"};
  const Weights alone = undisturbed(120, fixed);
  const double way = distance(undisturbed(0, fixed), alone);
  for (const Words& kind :
       {Words{"sync.kind=shared"}, Words{"sync.kind=zero3"},
        Words{"sync.kind=hierarchical", "sync.across=gradients", "sync.codec.warmup=5"}}) {
    SCOPED_TRACE(kind[0]);
    Words words = fixed;
    words.insert(words.end(), kind.begin(), kind.end());
    words.insert(words.end(), {"sync.codec.kind=int8", "sync.check_every=1"});
    std::filesystem::remove_all(output());
    testing::CommandProcess process(spread_job(
        "$((n / 2 % 2))",
        "kill rank=0 step=8 at=collective; kill rank=2 step=14; slow rank=3 factor=8", words));
    EXPECT_EQ(process.wait_exit(Deadline::after(90s)), 0) << process.out() << process.error();
    EXPECT_THAT(events(), HasSubstr("\"event\":\"workers joined\""));
    EXPECT_LT(distance(saved(alone), alone), 0.02 * way);
    EXPECT_TRUE(newest().has("optim/residual.1/" + alone.begin()->first));
  }
}

// Its host has no other worker that could kill it: it learns from the store that the others go on.
TEST_F(ElasticHosts, ReplaceAStuckWorkerThatIsAloneOnItsHost) {
  workers_ = 2;
  testing::CommandProcess process(spread_job("$((n % 2))", "hang rank=1 step=6",
                                             {"elastic.stall_minimum=1s", "--min-workers", "2"}));
  EXPECT_EQ(process.wait_exit(Deadline::after(90s)), 0) << process.out() << process.error();
  EXPECT_THAT(events(), HasSubstr("worker 1: stuck: others wait for it"));
  EXPECT_THAT(process.error(), HasSubstr("goes on without worker 1, which makes no progress"));
  EXPECT_THAT(events(), HasSubstr("\"event\":\"workers joined\""));
  expect_same_bits_as(undisturbed());
}

// One worker believes that another, far or near, is dead: the others hear of it from that worker
// alone, leave what they wait for, and the one in doubt ends or is killed.
TEST_F(ElasticHosts, ExcludeALiveWorkerThatAnotherDeclaresDead) {
  for (const auto& [kind, chaos] :
       {std::pair("sync.kind=auto", "doubt rank=0 whom=3 step=8 at=reduce"),
        std::pair("sync.kind=zero3", "doubt rank=2 whom=0 step=8 at=update"),
        std::pair("sync.kind=all_reduce", "doubt rank=0 whom=1 step=8 at=collective")}) {
    SCOPED_TRACE(chaos);
    std::filesystem::remove_all(output());
    testing::CommandProcess process(spread_job("$((n / 2 % 2))", chaos, {kind}));
    EXPECT_EQ(process.wait_exit(Deadline::after(30s)), 0) << process.out() << process.error();
    EXPECT_THAT(events(), HasSubstr("\"event\":\"workers lost\""));
    EXPECT_THAT(events(), Not(HasSubstr("heartbeat")));
    expect_same_bits_as(undisturbed());
  }
}

// While workers come and others get over a death; and where more lies on the way to the others than
// a connection takes.
TEST_F(ElasticHosts, ExcludeADoubtedWorkerWhileOthersJoinAndManyBytesAreInFlight) {
  // When rank 1 dies in step 5, rank 0 may still be saving the checkpoint before that step.
  for (const Words& how :
       {Words{"kill rank=1 step=5; doubt rank=0 whom=3 step=4 at=recovery", "sync.kind=zero1"},
        Words{"kill rank=1 step=5; doubt rank=2 whom=0 step=30; slow rank=2 factor=8",
              "sync.kind=all_reduce", "train.steps=80"},
        Words{"doubt rank=0 whom=3 step=4 at=collective", "sync.kind=all_reduce",
              "model.hidden_sizes=[1500, 1500]", "sync.bucket_size=32 MiB", "train.steps=10"},
        Words{"doubt rank=2 whom=0 step=4 at=collective", "sync.kind=zero2",
              "model.hidden_sizes=[1500, 1500]", "sync.bucket_size=32 MiB", "train.steps=10"}}) {
    SCOPED_TRACE(how[0]);
    std::filesystem::remove_all(output());
    testing::CommandProcess process(
        spread_job("$((n / 2 % 2))", how[0], Words(how.begin() + 1, how.end())));
    EXPECT_EQ(process.wait_exit(Deadline::after(40s)), 0) << process.out() << process.error();
    EXPECT_THAT(events(), HasSubstr("takes it for dead"));
    EXPECT_THAT(events(), Not(HasSubstr("heartbeat")));
  }
}

// The same while rounds are in flight with the group of an earlier epoch.
TEST_F(ElasticHosts, AbortARoundInFlightWhenALiveWorkerIsDeclaredDead) {
  for (const char* chaos :
       {"doubt rank=0 whom=3 step=9 at=backward", "doubt rank=2 whom=0 step=10 at=reduce",
        "doubt rank=0 whom=1 step=11 at=reduce"}) {
    SCOPED_TRACE(chaos);
    std::filesystem::remove_all(output());
    testing::CommandProcess process(
        spread_job("$((n / 2 % 2))", chaos,
                   {"train.logical_ranks=0", "sync.kind=hierarchical", "sync.steps=4",
                    "sync.codec.kind=int8", "sync.overlap=3", "sync.check_every=1"}));
    EXPECT_EQ(process.wait_exit(Deadline::after(30s)), 0) << process.out() << process.error();
    EXPECT_THAT(events(), HasSubstr("\"event\":\"workers lost\""));
    EXPECT_EQ(newest().step(), kElasticSteps);
  }
}

// Two hosts of two train a replica each. A worker dies on either, the first of its host among them,
// and all of one: what is lost is a host's part of a round, now and then.
TEST_F(ElasticHosts, HaveAReplicaEachThatOutlivesItsWorkers) {
  const Words fixed = {"train.logical_ranks=0", "model.dropout=0", "optim.kind=sgd",
                       "optim.lr=0.1"};
  const Weights alone = undisturbed(kElasticSteps, fixed);
  const double way = distance(undisturbed(0, fixed), alone);
  for (const Words& how :
       {Words{"sync.steps=4"}, Words{"sync.steps=4", "sync.codec.kind=int8", "sync.overlap=3"}}) {
    for (const char* chaos :
         {"kill rank=1 step=8 at=prepared; kill rank=2 step=14 at=update; kill rank=0 step=23",
          "kill rank=2 step=12 at=update; kill rank=3 step=12 at=update",
          "kill rank=0 step=12 at=collective; kill rank=1 step=11 at=recovery"}) {
      SCOPED_TRACE(chaos);
      Words words = fixed;
      words.insert(words.end(), how.begin(), how.end());
      words.insert(words.end(), {"sync.kind=hierarchical", "sync.check_every=1"});
      std::filesystem::remove_all(output());
      testing::CommandProcess process(spread_job("$((n / 2 % 2))", chaos, words));
      EXPECT_EQ(process.wait_exit(Deadline::after(90s)), 0) << process.out() << process.error();
      EXPECT_THAT(process.error(), HasSubstr("was lost: killed by signal 9"));
      EXPECT_LT(distance(saved(alone), alone), 0.4 * way);
    }
  }
}

// Replacements come to the replica of their host, and to a host that was lost, and go on with it.
TEST_F(ElasticHosts, ReplacementsComeToTheReplicaOfTheirHost) {
  for (const char* chaos : {"kill rank=0 step=8; slow rank=3 factor=12",
                            "kill rank=2 step=8; kill rank=3 step=8; slow rank=0 factor=12"}) {
    SCOPED_TRACE(chaos);
    std::filesystem::remove_all(output());
    testing::CommandProcess process(spread_job(
        "$((n / 2 % 2))", chaos,
        {"train.logical_ranks=0", "train.steps=120", "sync.kind=hierarchical", "sync.steps=5",
         "sync.outer_lr=0.7", "sync.outer_momentum=0.9", "sync.check_every=1"}));
    EXPECT_EQ(process.wait_exit(Deadline::after(90s)), 0) << process.out() << process.error();
    EXPECT_THAT(events(), HasSubstr("\"event\":\"workers joined\""));
    EXPECT_EQ(newest().step(), 120);
  }
}

// Replicas, outer weights, momentum and fragments in flight come from the checkpoint. Where a
// replacement is depends on its number, and so do the samples of a host: here each is alone on its
// own, or all are on one.
TEST_F(ElasticHosts, BeginAnewFromTheirCheckpointWhenAllDie) {
  const auto train = [&](const std::string& where, const std::string& chaos) {
    std::filesystem::remove_all(output());
    testing::CommandProcess process(spread_job(
        where, chaos,
        {"train.logical_ranks=0", "sync.kind=hierarchical", "sync.steps=7", "sync.overlap=7",
         "sync.outer_lr=0.7", "sync.outer_momentum=0.9", "sync.codec.kind=int8"}));
    EXPECT_EQ(process.wait_exit(Deadline::after(90s)), 0) << process.out() << process.error();
    return saved(undisturbed(0));
  };
  for (const char* where : {"$n", "0"}) {
    const Weights wanted = train(where, "");
    const Weights found =
        train(where,
              "kill rank=0 step=22; kill rank=1 step=22; kill rank=2 step=22; kill rank=3 step=22");
    EXPECT_EQ(distance(found, wanted), 0) << where;
  }
}

// The first to be lost is replaced; another one is lost in the epoch that takes its replacement in,
// worker 4, which then has to wait for the next epoch and must not exit.
TEST_F(ElasticHosts, ANewcomerOutlivesADeathInItsFirstEpoch) {
  testing::CommandProcess process(spread_job(
      "$((n / 2 % 2))", "kill rank=1 step=8; kill rank=0 step=9 at=recovery; slow rank=3 factor=10",
      {"train.steps=300", "checkpoint.every=50"}));
  EXPECT_EQ(process.wait_exit(Deadline::after(120s)), 0) << process.out() << process.error();
  EXPECT_THAT(process.error(), HasSubstr("worker 0 was lost: killed by signal 9"));
  EXPECT_THAT(process.error(), Not(HasSubstr("worker 4 was lost")));
  expect_same_bits_as(undisturbed(300));
}

// In the first epoch, the worker that creates the shared memory exceeds a limit and dies (SIGXFSZ).
// The others are already in that epoch.
TEST_F(ElasticHosts, TheFirstEpochContinuesWhenTheCreatorOfSharedMemoryDies) {
  for (const char* hosts : {"0", "$((n / 2 % 2))"}) {
    SCOPED_TRACE(hosts);
    std::filesystem::remove_all(output());
    testing::CommandProcess process(job_after("export TRIREME_HOST=" + std::string(hosts) +
                                                  "\n[ $n = 0 ] && ulimit -c 0 && ulimit -f 100000",
                                              "", {"elastic.spread=true"}));
    EXPECT_EQ(process.wait_exit(Deadline::after(90s)), 0) << process.out() << process.error();
    EXPECT_THAT(process.error(), HasSubstr("worker 0 was lost: killed by signal 25"));
    for (const char* other : {"worker 1 was lost", "worker 2 was lost", "worker 3 was lost"}) {
      EXPECT_THAT(process.error(), Not(HasSubstr(other)));
    }
    EXPECT_TRUE(std::filesystem::exists(output() / "config.toml"));
    expect_same_bits_as(undisturbed());
  }
}

// Each worker is alone on its host, so only the store can detect a death.
TEST_F(ElasticHosts, OfOneWorkerEachGoOnBitForBit) {
  testing::CommandProcess process(spread_job(
      "$n", "kill rank=3 step=8 at=reduce; stop rank=1 step=16", {"elastic.heartbeat=1s"}));
  EXPECT_EQ(process.wait_exit(Deadline::after(90s)), 0) << process.out() << process.error();
  EXPECT_THAT(events(), HasSubstr("its session in the store ended"));
  EXPECT_THAT(events(), HasSubstr("no heartbeat for"));
  expect_same_bits_as(undisturbed());
}

// Rank 0 is frozen while it writes a checkpoint. It is alone on its host, so no other worker can
// kill it. The others continue at once and write their checkpoints.
TEST_F(ElasticHosts, GoOnSavingWhenRankZeroIsFrozenInACheckpoint) {
  testing::CommandProcess process(spread_job("$n", "stop rank=0 step=10 at=checkpoint",
                                             {"elastic.heartbeat=1s", "checkpoint.keep=20"}));
  EXPECT_EQ(process.wait_exit(Deadline::after(90s)), 0) << process.out() << process.error();
  EXPECT_THAT(events(), HasSubstr("worker 0: no heartbeat for"));
  EXPECT_THAT(events(), Not(HasSubstr("\"event\":\"checkpoint failed\"")));
  for (const std::int64_t step : {15, 20, 25, 30, 35, 40}) {
    const auto path = output() / "checkpoints" / checkpoint::format::folder_name(step);
    EXPECT_TRUE(checkpoint::format::damage_in(path).empty()) << path << '\n' << events();
  }
  expect_same_bits_as(undisturbed());
}

// It wakes up while the others train: it finds no epoch that it is in, and ends without having
// changed a checkpoint of theirs.
TEST_F(ElasticHosts, AWorkerThatWakesUpAfterItsEvictionExits) {
  testing::CommandProcess process(spread_job(
      "$n", "stop rank=0 step=8 at=checkpoint for=3s; slow rank=1 factor=10",
      {"elastic.heartbeat=1s", "train.steps=600", "checkpoint.every=50", "checkpoint.keep=20"}));
  EXPECT_EQ(process.wait_exit(Deadline::after(120s)), 0) << process.out() << process.error();
  EXPECT_THAT(events(), HasSubstr("worker 0: no heartbeat for"));
  // Its training finds it out, or the thread that watches over it, if that is sooner.
  EXPECT_THAT(process.out() + process.error(), HasSubstr("epoch 2 goes on without worker 0"));
  for (const auto& listed : checkpoint::format::list_checkpoints(output() / "checkpoints")) {
    EXPECT_TRUE(checkpoint::format::damage_in(listed.path).empty()) << listed.path;
  }
  expect_same_bits_as(undisturbed(600));
}

}  // namespace
}  // namespace trireme::train
