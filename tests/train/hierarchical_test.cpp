// Goal:   the ranks of a host train one replica together, and hosts synchronize less often or with
//         fewer bytes; one host does what one rank would do with that host's samples.
// Method: tiny jobs on threads that act as ranks of two hosts: shared memory within a host, TCP
//         between hosts. In float64 two hosts of two ranks must agree with two ranks within 1e-10;
//         on one host, and with one rank per host, bit for bit with the equivalent strategy.

#include "tests/train/hosted_trainer.h"
#include "tests/train/more_words.h"
#include "trireme/codec/zstd/lossless.h"
#include "trireme/testing/code_of.h"

namespace trireme::train {
namespace {

constexpr double kHostsNear = 1e-10;
const Hosts kTwoOfTwo{"a", "a", "b", "b"};

// A batch of 12 samples in micro-batches of equal size, so that a host's part is a rank's part.
const Words kEven{"data.count=36", "train.global_batch_size=12"};

Words hierarchical(const std::string& how, const std::string& value) {
  return {"sync.kind=hierarchical", "sync." + how + "=" + value};
}

struct Hosted {
  std::vector<Weights> by_step;  // rank 0's, after each
  Weights joined;                // of all, at the end
  parallel::Traffic traffic{};   // of rank 0, in all
  std::vector<double> losses{};
};

Hosted train_hosted(const config::Config& config, const Hosts& hosts, int steps) {
  at::set_num_threads(1);
  std::vector<Hosted> all(hosts.size());
  comm::run_hosted_ranks(hosts, comm::Transport::Auto,
                         [&](cluster::World&, const comm::Group& group) {
                           Job job = open_job(config, tiny_kinds(), group);
                           Hosted& mine = all[static_cast<std::size_t>(group.rank())];
                           for (int step = 0; step < steps; ++step) {
                             const Outcome outcome = job.step->run(step);
                             mine.losses.push_back(outcome.loss);
                             mine.traffic += outcome.traffic;
                             job.gradient_sync().model().settle();
                             job.gradient_sync().model().check();
                             mine.by_step.push_back(weights_of(*job.model));
                             // Others may go on to write what is read here.
                             group.barrier().wait();
                           }
                           job.gradient_sync().model().join();
                           job.gradient_sync().model().settle();
                           mine.joined = weights_of(*job.model);
                           EXPECT_EQ(job.gradient_sync().model().first_not_finite(true), "");
                           group.barrier().wait();
                         });
  for (const Hosted& other : all) EXPECT_EQ(distance(other.joined, all[0].joined), 0);
  return all[0];
}

TEST(Hierarchical, OnOneHostIsAllReduceToTheBit) {
  for (const std::string model : {"mlp", "gpt"}) {
    for (const int ranks : {2, 3, 4}) {
      const Trained plain = train_threads(tiny_config(model, {"sync.kind=all_reduce"}), ranks, 10);
      for (const Words& words : {hierarchical("steps", "3"), hierarchical("across", "gradients"),
                                 hierarchical("steps", "3") + Words{"sync.codec.kind=sign"}}) {
        const Trained found = train_threads(tiny_config(model, words), ranks, 10);
        expect_same_bits(found, plain, model + " " + words[1] + " " + std::to_string(ranks));
        EXPECT_EQ(found.losses, plain.losses);
      }
    }
  }
}

TEST(Hierarchical, WithOneRankAHostIsLocalToTheBit) {
  const Hosts hosts{"a", "b", "c"};
  for (const char* steps : {"1", "3"}) {
    const Words local{"sync.kind=local", "sync.steps=" + std::string(steps)};
    const Hosted found = train_hosted(tiny_config("mlp", hierarchical("steps", steps)), hosts, 7);
    const Hosted plain = train_hosted(tiny_config("mlp", local), hosts, 7);
    for (std::size_t i = 0; i < plain.by_step.size(); ++i) {
      EXPECT_EQ(distance(found.by_step[i], plain.by_step[i]), 0) << steps << ", step " << i;
    }
    EXPECT_EQ(distance(found.joined, plain.joined), 0);
  }
  const Words gradients = hierarchical("across", "gradients");
  const Hosted found = train_hosted(tiny_config("mlp", gradients), hosts, 7);
  const Hosted plain = train_hosted(tiny_config("mlp", {"sync.kind=all_reduce"}), hosts, 7);
  EXPECT_EQ(distance(found.joined, plain.joined), 0);
}

// Rank 0's replica after every step, in the middle of a round too.
TEST(Hierarchical, AHostOfTwoRanksIsOneRankWithTheSamplesOfBoth) {
  struct Case {
    Words hosts;
    Words ranks;
  };
  const Case cases[] = {
      {hierarchical("steps", "3"), {"sync.kind=local", "sync.steps=3"}},
      {hierarchical("steps", "2") + Words{"sync.round.schedule=[\"4=4\"]"},
       {"sync.kind=local", "sync.steps=2", "sync.round.schedule=[\"4=4\"]"}},
      {hierarchical("steps", "100") + Words{"sync.round.divergence=0.02"},
       {"sync.kind=local", "sync.steps=100", "sync.round.divergence=0.02"}},
      {hierarchical("steps", "2") + Words{"sync.outer_lr=0.7", "sync.outer_momentum=0.9"},
       {"sync.kind=diloco", "sync.steps=2"}},
      {hierarchical("steps", "4") + Words{"sync.overlap=3"},
       {"sync.kind=diloco", "sync.steps=4", "sync.overlap=3", "sync.outer_lr=1",
        "sync.outer_momentum=0"}},
  };
  for (const std::string model : {"mlp64", "gpt64"}) {
    for (const Case& one : cases) {
      const Words more = kEven + Words{"optim.max_grad_norm=0.5"};
      const Hosted found = train_hosted(tiny_config(model, one.hosts + more), kTwoOfTwo, 8);
      const Hosted ranks = train_hosted(tiny_config(model, one.ranks + more), {"a", "b"}, 8);
      for (std::size_t i = 0; i < ranks.by_step.size(); ++i) {
        EXPECT_LT(distance(found.by_step[i], ranks.by_step[i]), kHostsNear)
            << model << " " << one.ranks[1] << ", step " << i;
        EXPECT_NEAR(found.losses[i], ranks.losses[i], kHostsNear);
      }
      EXPECT_LT(distance(found.joined, ranks.joined), kHostsNear) << model << " " << one.ranks[1];
    }
  }
}

// Plain descent does not mind whether gradients are averaged or what they do.
TEST(Hierarchical, AveragedAfterEveryStepIsOneRank) {
  const Words plain{"optim.kind=sgd", "optim.momentum=0", "optim.lr=0.1"};
  const Trained one = train_threads(tiny_config("mlp64", plain + kEven), 1, 9);
  const Hosted found =
      train_hosted(tiny_config("mlp64", plain + kEven + hierarchical("steps", "1")), kTwoOfTwo, 9);
  EXPECT_LT(distance(found.joined, one.weights), kHostsNear);
}

TEST(Hierarchical, GradientsAcrossAreThoseOfOneRank) {
  const Trained one = train_threads(tiny_config("gpt64", {"optim.max_grad_norm=0.1"}), 1, 9);
  const Words words = hierarchical("across", "gradients") + Words{"optim.max_grad_norm=0.1"};
  const Hosted found = train_hosted(tiny_config("gpt64", words), {"a", "b", "a", "b"}, 9);
  EXPECT_LT(distance(found.joined, one.weights), kHostsNear);
}

TEST(Hierarchical, ACodecAcrossWithoutLossChangesNothing) {
  if (!codec::zstd::is_available()) GTEST_SKIP() << "NOT TESTED: this build has no zstd";
  const Words words = hierarchical("across", "gradients");
  const Hosted plain = train_hosted(tiny_config("mlp", words), kTwoOfTwo, 6);
  const Hosted coded =
      train_hosted(tiny_config("mlp", words + Words{"sync.codec.kind=zstd"}), kTwoOfTwo, 6);
  EXPECT_EQ(distance(coded.joined, plain.joined), 0);
}

TEST(Hierarchical, EveryCodecLearnsAndSendsLess) {
  const Words wide{"model.hidden_sizes=[64, 64]"};
  const Words all_ways[] = {hierarchical("across", "gradients"), hierarchical("steps", "2")};
  for (const Words& way : all_ways) {
    for (const std::string codec : {"fp16", "int8", "sign", "top_k", "threshold", "powersgd"}) {
      Words words = way + Words{"sync.codec.kind=" + codec} + wide;
      if (codec == "top_k") words.emplace_back("sync.codec.ratio=0.1");
      const Hosted found = train_hosted(tiny_config("mlp", words), kTwoOfTwo, 40);
      EXPECT_LT(found.losses.back(), 0.95 * found.losses.front()) << way[1] << " " << codec;
      EXPECT_LT(found.traffic.sent, 0.6 * static_cast<double>(found.traffic.plain))
          << way[1] << " " << codec;
      EXPECT_GT(found.traffic.sent, 0);
    }
  }
}

// A host of two ranks chooses the same values as one rank with all of them: the largest of all, not
// the same number of each shard. Sums are rounded in another order.
TEST(Hierarchical, TopKIsThatOfTheHostsSum) {
  const Words words = kEven + Words{"sync.codec.kind=top_k", "sync.codec.ratio=0.05",
                                    "optim.kind=sgd", "optim.lr=0.1"};
  const Hosted found =
      train_hosted(tiny_config("mlp", hierarchical("across", "gradients") + words), kTwoOfTwo, 8);
  const Hosted ranks =
      train_hosted(tiny_config("mlp", Words{"sync.kind=all_reduce"} + words), {"a", "b"}, 8);
  for (std::size_t i = 0; i < ranks.by_step.size(); ++i) {
    EXPECT_LT(distance(found.by_step[i], ranks.by_step[i]), 1e-6) << "step " << i;
  }
}

// So it does where weights cross: of all that a host sends in a turn. Here that is one bucket.
TEST(Hierarchical, TopKOfWeightsIsThatOfTheWholeHost) {
  const Words words = kEven + Words{"sync.codec.kind=top_k", "sync.codec.ratio=0.05",
                                    "sync.bucket_size=1MiB", "optim.kind=sgd", "optim.lr=0.1"};
  const Words ranks_words{"sync.kind=local", "sync.steps=2"};
  const Hosted found =
      train_hosted(tiny_config("mlp", hierarchical("steps", "2") + words), kTwoOfTwo, 8);
  const Hosted ranks = train_hosted(tiny_config("mlp", ranks_words + words), {"a", "b"}, 8);
  for (std::size_t i = 0; i < ranks.by_step.size(); ++i) {
    EXPECT_LT(distance(found.by_step[i], ranks.by_step[i]), 1e-6) << "step " << i;
  }
  EXPECT_GT(distance(found.by_step[0], found.by_step[7]), 1e-3);
  // Turns in which some rank has nothing to send.
  for (const char* fragments : {"3", "40"}) {
    const Hosted turns = train_hosted(
        tiny_config("mlp", hierarchical("steps", "40") + words +
                               Words{"sync.fragments=" + std::string(fragments), "sync.overlap=1"}),
        {"a", "a", "a", "b", "b", "b"}, 45);
    EXPECT_LT(turns.losses.back(), turns.losses.front());
    EXPECT_GT(turns.traffic.sent, 0);
    EXPECT_LT(2 * turns.traffic.sent, turns.traffic.plain);
  }
}

// As the codec's own count has it, without frames; all_reduce sends float32 in every step.
TEST(Diloco, OfAHundredStepsInBytesSendsA350th) {
  const Words wide{"model.hidden_sizes=[256, 256]"};
  const Words every{"sync.kind=all_reduce", "sync.codec.kind=fp16"};
  const Words rare{"sync.kind=diloco", "sync.steps=100", "sync.codec.kind=int8"};
  const Hosts apart{"a", "b"};
  const auto plain = train_hosted(tiny_config("mlp", every + wide), apart, 1).traffic.plain;
  const auto sent = train_hosted(tiny_config("mlp", rare + wide), apart, 101).traffic.sent;
  EXPECT_GT(plain, 256 * 256 * 4);
  EXPECT_GT(sent, 0);
  EXPECT_LE(350 * sent, 100 * plain);
}

using HierarchicalTrainer = HostedTrainer;

// Step 9 is in the middle of a round.
TEST_F(HierarchicalTrainer, GoesOnInTheMiddleOfARound) {
  const Words cases[] = {
      hierarchical("steps", "7"),
      hierarchical("steps", "4") + Words{"sync.codec.kind=int8", "sync.outer_momentum=0.9"},
      hierarchical("steps", "6") + Words{"sync.fragments=5", "sync.overlap=2"},
      hierarchical("across", "gradients") + Words{"sync.codec.kind=int8"},
      hierarchical("across", "gradients") + Words{"sync.codec.kind=powersgd"},
  };
  int number = 0;
  for (const Words& words : cases) {
    expect_exact_resume(std::to_string(number++), words, kTwoOfTwo);
  }
}

TEST(HierarchicalRefusals, NameARemedy) {
  const auto refused = [](const Words& words, const Hosts& hosts) {
    return testing::code_of([&] { train_hosted(tiny_config("mlp", words), hosts, 1); });
  };
  EXPECT_EQ(refused(hierarchical("steps", "2"), {"a", "a", "b"}), ErrorCode::InvalidInput);
  EXPECT_EQ(refused(hierarchical("steps", "2") + Words{"train.logical_ranks=4"}, {"a", "b"}),
            ErrorCode::InvalidInput);
  EXPECT_EQ(refused(hierarchical("across", "gradients") + Words{"sync.round.seconds=1"}, {"a"}),
            ErrorCode::InvalidInput);
  EXPECT_EQ(refused(hierarchical("across", "gradients") + Words{"sync.steps=2"}, {"a"}),
            ErrorCode::InvalidInput);
  const Words overlap = hierarchical("steps", "2") + Words{"sync.overlap=3"};
  EXPECT_EQ(refused(overlap, {"a", "b"}), ErrorCode::InvalidInput);
  EXPECT_EQ(refused(overlap + Words{"sync.round.schedule=['100=9']"}, {"a", "b"}),
            ErrorCode::InvalidInput);
  EXPECT_EQ(
      refused(hierarchical("steps", "9") + Words{"sync.overlap=3", "sync.round.schedule=['100=2']"},
              {"a", "b"}),
      ErrorCode::InvalidInput);
  EXPECT_NO_THROW(train_hosted(tiny_config("mlp", overlap + Words{"sync.round.schedule=['0=9']"}),
                               {"a", "b"}, 1));
  EXPECT_EQ(refused(hierarchical("across", "gradients") + Words{"sync.outer_momentum=0.5"}, {"a"}),
            ErrorCode::InvalidInput);
}

}  // namespace
}  // namespace trireme::train
