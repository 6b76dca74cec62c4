// Goal:   elastic jobs with a codec or with local-update methods survive workers that are killed or
//         frozen: they finish, replacements join, replicas that must be equal are equal, and
//         training progress is not lost. If all workers die at once, the job continues from its
//         checkpoint with the bits of an undisturbed job.
// Method: the real programs with faults at named points, without virtual ranks and with ranks
//         compared after every step.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "tests/train/elastic_job.h"
#include "tests/train/more_words.h"
#include "trireme/checkpoint/format/folder.h"

namespace trireme::train {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class ElasticLessOften : public ElasticJob {
 protected:
  static Words plain() {
    return {"train.logical_ranks=0", "model.dropout=0",    "optim.kind=sgd",
            "optim.lr=0.1",          "sync.check_every=1", "elastic.heartbeat=2s"};
  }

  void train(const std::string& chaos, const Words& more) {
    std::filesystem::remove_all(output());
    go_on(more, chaos);
  }

  void go_on(const Words& more, const std::string& chaos = "") {
    testing::CommandProcess process(job(chaos, plain() + more));
    EXPECT_EQ(process.wait_exit(Deadline::after(90s)), 0) << process.out() << process.error();
    if (chaos.empty()) return;
    EXPECT_THAT(process.error(), HasSubstr("was lost: killed by signal 9"));
  }

  // Checkpoints of later steps, as if they had never been.
  void forget_after(std::int64_t last) const {
    for (std::int64_t step = last + 1; step <= kElasticSteps; ++step) {
      std::filesystem::remove_all(output() / "checkpoints" / checkpoint::format::folder_name(step));
    }
  }

  // Of the way from the first weights to those that are wanted.
  double share_missed(const Weights& wanted) const {
    return distance(saved(wanted), wanted) / distance(undisturbed(0, plain()), wanted);
  }

  // What is lost is a part of a round of one replica in four, now and then.
  void expect_got_over(const Words& kind) {
    train("", kind);
    const Weights wanted = saved(undisturbed(0, plain()));
    train(
        "kill rank=2 step=12 at=backward; kill rank=1 step=19 at=collective; "
        "kill rank=3 step=29 at=update",
        kind);
    EXPECT_THAT(events(), HasSubstr("\"event\":\"workers lost\""));
    EXPECT_LT(share_missed(wanted), 0.4);
  }
};

TEST_F(ElasticLessOften, WithACodecEverySampleCounts) {
  train(
      "kill rank=2 step=12 at=collective; kill rank=1 step=20 at=backward; "
      "stop rank=0 step=28 at=prepared",
      {"sync.kind=all_reduce", "sync.codec.kind=int8"});
  // Of one process, without a codec.
  EXPECT_LT(share_missed(undisturbed(kElasticSteps, plain())), 0.02);
}

TEST_F(ElasticLessOften, DilocoContinuesWithTheSurvivors) {
  const Words kind{"sync.kind=diloco", "sync.steps=5", "sync.codec.kind=int8"};
  expect_got_over(kind);
}

// Fragments are in flight at every moment.
TEST_F(ElasticLessOften, DeathsWhileFragmentsAreInFlightAreSurvived) {
  const Words kind{"sync.kind=diloco", "sync.steps=6", "sync.fragments=2", "sync.overlap=3",
                   "sync.codec.kind=int8"};
  expect_got_over(kind);
}

TEST_F(ElasticLessOften, LocalSgdAndDelayedGradientsSurviveDeaths) {
  const Weights alone = undisturbed(kElasticSteps, plain());
  train("kill rank=2 step=12; stop rank=0 step=21 at=collective",
        {"sync.kind=local", "sync.steps=4"});
  EXPECT_LT(share_missed(alone), 0.3);
  train("kill rank=2 step=12 at=collective; kill rank=0 step=20 at=prepared",
        {"sync.kind=delayed", "sync.codec.kind=int8"});
  EXPECT_LT(share_missed(alone), 0.3);
}

TEST_F(ElasticLessOften, GossipAndJobsThatChangeStrategySurviveDeaths) {
  const Weights alone = undisturbed(kElasticSteps, plain());
  train("kill rank=2 step=12 at=collective; kill rank=0 step=20 at=backward", {"sync.kind=gossip"});
  EXPECT_LT(share_missed(alone), 0.3);
  train("kill rank=2 step=7 at=collective; kill rank=0 step=10; kill rank=1 step=21 at=collective",
        {"sync.kind=post_local", "sync.begin=10", "sync.steps=4"});
  EXPECT_LT(share_missed(alone), 0.3);
}

TEST_F(ElasticLessOften, ReplacementsComeInAtTheEndOfARound) {
  train("kill rank=0 step=8; slow rank=1 factor=12; slow rank=3 factor=12",
        {"train.steps=120", "sync.kind=diloco", "sync.steps=5", "sync.codec.kind=int8"});
  EXPECT_THAT(events(), HasSubstr("\"event\":\"workers joined\""));
  EXPECT_EQ(newest().step(), 120);
}

// Each replica, outer weights, momentum and fragments in flight come from the checkpoint.
TEST_F(ElasticLessOften, DilocoBeginsAnewFromItsCheckpointWhenAllDie) {
  const Weights like = undisturbed(0, plain());
  for (const Words& kind :
       {Words{"sync.kind=diloco", "sync.steps=7"},
        Words{"sync.kind=diloco", "sync.steps=7", "sync.overlap=7", "sync.codec.kind=int8"}}) {
    train("", kind);
    const Weights wanted = saved(like);
    train("kill rank=0 step=22; kill rank=1 step=22; kill rank=2 step=22; kill rank=3 step=22",
          kind);
    EXPECT_EQ(distance(saved(like), wanted), 0) << kind.back();
  }
}

// A worker dies soon after the resume. The saved fragments reach all live workers.
TEST_F(ElasticLessOften, FragmentsInFlightAreRestoredWithAnotherNumberOfWorkers) {
  for (const Words& kind : {Words{"sync.kind=diloco", "sync.steps=8", "sync.overlap=7"},
                            Words{"sync.kind=gossip", "sync.steps=3", "sync.overlap=3"}}) {
    for (const int others : {5, 3}) {
      workers_ = 4;
      train("", kind + Words{"checkpoint.keep=20"});
      forget_after(20);
      const std::vector<std::string> names = newest().names();
      ASSERT_TRUE(std::any_of(names.begin(), names.end(), [](const std::string& name) {
        return name.starts_with("optim/outer_launched");
      })) << "no fragment was in flight";
      workers_ = others;
      go_on(kind + Words{"--resume"}, "kill rank=1 step=20 at=backward");
    }
  }
}

// Saved while a fragment is in flight: the residual of a codec is neither lost nor sent twice.
TEST_F(ElasticLessOften, GoesOnFromWhatAnotherKindOfJobHasSaved) {
  const Weights like = undisturbed(0, plain());
  const Words fixed{"elastic.enabled=false"}, elastic{"elastic.enabled=true"}, resumed{"--resume"};
  for (const Words& kind :
       {Words{"sync.kind=diloco", "sync.steps=8", "sync.overlap=7", "sync.codec.kind=int4",
              "checkpoint.keep=20"},
        Words{"sync.kind=gossip", "sync.steps=3", "sync.overlap=3", "checkpoint.keep=20"}}) {
    train("", kind + fixed);
    const Weights wanted = saved(like);
    for (const Words& then : {elastic, fixed}) {
      train("", kind + (then == elastic ? fixed : elastic));
      forget_after(20);
      go_on(kind + then + resumed);
      EXPECT_EQ(distance(saved(like), wanted), 0) << kind[0] << " " << then[0];
    }
  }
}

}  // namespace
}  // namespace trireme::train
