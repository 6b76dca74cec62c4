// Goal:   the synchronization strategy can change while a job runs: weights and optimizer state are
//         carried over exactly, and a resumed job uses the right strategy.
// Method: tiny jobs on threads. In float64 any sequence of strategies that synchronize gradients in
//         every step equals one rank within 1e-10, with virtual ranks bit for bit; jobs that are
//         interrupted next to a change, or exactly at it, end like uninterrupted ones.

#include "trireme/parallel/scheduled_sync.h"

#include "tests/comm/hosted_ranks.h"
#include "tests/train/more_words.h"
#include "tests/train/trainer_fixture.h"
#include "trireme/parallel/kinds.h"
#include "trireme/testing/code_of.h"

namespace trireme::train {
namespace {

constexpr double kChangedNear = 1e-10;

Words changing(const std::string& first, const std::string& schedule) {
  return {"sync.kind=" + first, "sync.schedule=[" + schedule + "]"};
}

const std::string kEveryStep =
    "\"3=shared\", \"6=zero3\", \"8=zero1\", \"10=all_reduce\", \"12=zero2\", \"14=shared\"";

TEST(ScheduledSync, BetweenKindsOfEveryStepIsOneRank) {
  for (const std::string model : {"mlp64", "gpt64"}) {
    const Words clipped{"optim.max_grad_norm=0.1"};
    const Trained one = train_threads(tiny_config(model, clipped), 1, 18);
    for (const int ranks : {2, 3}) {
      const Words words = changing("all_reduce", kEveryStep) + clipped;
      const Trained many = train_threads(tiny_config(model, words), ranks, 18);
      EXPECT_LT(distance(many.weights, one.weights), kChangedNear) << model << " on " << ranks;
      for (std::size_t i = 0; i < one.losses.size(); ++i) {
        EXPECT_NEAR(many.losses[i], one.losses[i], kChangedNear) << model << ", step " << i;
      }
    }
  }
}

TEST(ScheduledSync, WithVirtualRanksChangesNoBit) {
  const Words fixed{"train.logical_ranks=5"};
  const Trained one = train_threads(tiny_config("gpt", fixed), 1, 18);
  const Words words = changing("all_reduce", kEveryStep) + fixed;
  for (const int ranks : {2, 3}) {
    expect_same_bits(train_threads(tiny_config("gpt", words), ranks, 18), one,
                     std::to_string(ranks));
  }
}

// Slices among the ranks of a host, and of all of them; replicas of hosts.
TEST(ScheduledSync, OnTwoHostsIsOneRank) {
  at::set_num_threads(1);
  const Words plain{"optim.kind=sgd", "optim.momentum=0", "optim.lr=0.1", "data.count=36",
                    "train.global_batch_size=12"};
  const config::Config config = tiny_config(
      "mlp64",
      changing("shared",
               "\"2=zero3\", \"4=hierarchical steps=1\", \"6=shared\", \"8=local steps=1\", "
               "\"10=hierarchical across=gradients\"") +
          plain);
  std::vector<Weights> all(4);
  comm::run_hosted_ranks({"a", "b", "a", "b"}, comm::Transport::Auto,
                         [&](cluster::World&, const comm::Group& group) {
                           Job job = open_job(config, tiny_kinds(), group);
                           for (int step = 0; step < 12; ++step) job.step->run(step);
                           job.gradient_sync().model().join();
                           job.gradient_sync().model().settle();
                           all[static_cast<std::size_t>(group.rank())] = weights_of(*job.model);
                           group.barrier().wait();
                         });
  const Trained one = train_threads(tiny_config("mlp64", plain), 1, 12);
  for (const Weights& found : all) EXPECT_LT(distance(found, one.weights), kChangedNear);
}

// The values and the optimizer state that each rank holds, by name.
using States = std::vector<Weights>;

States states_of(const Words& words, int steps, const std::function<void(Job&)>& then) {
  at::set_num_threads(1);
  constexpr int kRanks = 2;
  const config::Config config = tiny_config("mlp64", words);
  const auto groups = comm::connect_threads(kRanks, {.timeout = std::chrono::seconds(60)});
  States all(kRanks);
  testing::run_rank_threads(kRanks, [&](int rank) {
    const auto r = static_cast<std::size_t>(rank);
    Job job = open_job(config, tiny_kinds(), groups[r]);
    for (int step = 0; step < steps; ++step) job.step->run(step);
    then(job);
    for (const checkpoint::Piece& piece : job.gradient_sync().saved().pieces()) {
      all[r][piece.name] = piece.data.detach().clone().view({-1});
    }
    groups[r].barrier().wait();
  });
  return all;
}

// A round that is not over ends with the change, and optimizer state becomes its mean.
TEST(ScheduledSync, FromReplicasBringsThemTogether) {
  for (const std::string kind : {"local", "diloco", "gossip"}) {
    const Words steps{"sync.steps=3"};
    const States joined = states_of(Words{"sync.kind=" + kind} + steps, 5,
                                    [](Job& job) { job.gradient_sync().model().join(); });
    const States changed = states_of(changing(kind, "\"5=all_reduce\"") + steps, 5,
                                     [](Job& job) { job.gradient_sync().saved().seek(6); });
    EXPECT_EQ(distance(joined[0], joined[1]), 0);
    EXPECT_GT(joined[0].size(), 8u) << "weights and two states of each";
    for (const Weights& found : changed) EXPECT_EQ(distance(found, joined[0]), 0) << kind;
    // And a change is not made before its step.
    const States before = states_of(changing(kind, "\"5=all_reduce\"") + steps, 5,
                                    [](Job& job) { job.gradient_sync().saved().seek(5); });
    EXPECT_GT(distance(before[0], before[1]), 0) << kind;
  }
}

TEST(ScheduledSync, PostLocalIsAllReduceAndThenLocal) {
  const auto nothing = [](Job&) {};
  const Words post{"sync.kind=post_local", "sync.begin=4", "sync.steps=3"};
  const Words plain{"sync.kind=all_reduce"};
  const Words local = changing("all_reduce", "\"4=local steps=3\"");
  for (const int steps : {4, 6, 7, 9}) {
    const States found = states_of(post, steps, nothing);
    const States expected = states_of(local, steps, nothing);
    for (std::size_t r = 0; r < 2; ++r) EXPECT_EQ(distance(found[r], expected[r]), 0) << steps;
    const double apart = distance(found[0], states_of(plain, steps, nothing)[0]);
    EXPECT_EQ(apart == 0, steps == 4) << "alike up to the change: " << steps;
  }
}

class ChangingTrainer : public TrainerTest {
 protected:
  // Checkpoints after step 9 are taken away as if they had never been.
  void expect_exact_resume(const Words& words, int ranks) {
    const std::string number = std::to_string(jobs_++);
    const Words saved = words + Words{"checkpoint.every=3", "checkpoint.keep=20"};
    run("whole" + number, saved, false, ranks);
    run("cut" + number, saved, false, ranks);
    for (std::int64_t step = 10; step <= 20; ++step) {
      fs::remove_all(checkpoint_at("cut" + number, step));
    }
    run("cut" + number, saved, true, ranks);
    expect_same_end("whole" + number, "cut" + number);
  }

  int jobs_ = 0;
};

TEST_F(ChangingTrainer, GoesOnInTheRightKind) {
  // Before the change, just at it, and after it.
  for (const char* at : {"7", "9", "10", "12"}) {
    const std::string step(at);
    expect_exact_resume(changing("all_reduce", "\"" + step + "=local steps=4\""), 2);
    expect_exact_resume(changing("local", "\"" + step + "=shared\"") + Words{"sync.steps=4"}, 3);
    expect_exact_resume(changing("delayed", "\"" + step + "=diloco steps=4\""), 2);
  }
  // Saved where a round ends and the kind changes: no outer step is made for nothing.
  expect_exact_resume(changing("diloco", "\"9=all_reduce\"") + Words{"sync.steps=3"}, 2);
  expect_exact_resume(
      changing("zero1", "\"5=gossip\", \"9=delayed\", \"14=all_reduce\"") + Words{"train.steps=20"},
      2);
}

TEST(ChangingRefusals, ComeBeforeTheFirstStep) {
  const auto refused = [](const Words& words) {
    return testing::code_of([&] { train_threads(tiny_config("mlp", words), 2, 1); });
  };
  const Words late = changing("all_reduce", "\"100=local\"");
  EXPECT_EQ(refused(late + Words{"train.logical_ranks=4"}), ErrorCode::InvalidInput);
  EXPECT_EQ(refused(changing("all_reduce", "\"100=shared\"") + Words{"sync.codec.kind=int8"}),
            ErrorCode::InvalidInput);
  EXPECT_EQ(refused(changing("all_reduce", "\"100=delayed\"") + Words{"train.precision=fp16"}),
            ErrorCode::InvalidInput);
  const Words watched{"train.precision=bf16", "train.fallback_steps=3"};
  EXPECT_EQ(refused(late + watched), ErrorCode::InvalidInput);
  // On one host all have the same weights.
  EXPECT_NO_THROW(train_threads(
      tiny_config("mlp", changing("all_reduce", "\"100=hierarchical\"") + watched), 2, 1));
}

}  // namespace
}  // namespace trireme::train
