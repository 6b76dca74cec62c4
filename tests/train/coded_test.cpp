// Goal:   recipes with codecs and with local-update methods train, with equal replicas if the
//         method promises that; a resumed job continues as if it had never been interrupted;
//         unsupported combinations are refused.
// Method: tiny jobs on threads; whole trainers whose last checkpoints are removed.

#include "tests/train/more_words.h"
#include "tests/train/trainer_fixture.h"

#include "trireme/codec/zstd/lossless.h"
#include "trireme/parallel/kinds.h"
#include "trireme/testing/code_of.h"

namespace trireme::train {
namespace {

Words coded(const std::string& kind) {
  Words words{"sync.kind=all_reduce", "sync.codec.kind=" + kind};
  if (kind.ends_with("_k")) words.emplace_back("sync.codec.ratio=0.1");
  return words;
}

TEST(CodedTraining, WithoutLossIsThatWithoutACodec) {
  if (!codec::zstd::is_available()) GTEST_SKIP() << "NOT TESTED: this build has no zstd";
  const Trained plain = train_threads(tiny_config("mlp", {"sync.kind=all_reduce"}), 2, 10);
  expect_same_bits(train_threads(tiny_config("mlp", coded("zstd")), 2, 10), plain, "zstd");
}

TEST(CodedTraining, EveryCodecLearns) {
  for (const char* kind :
       {"fp16", "bf16", "int8", "int4", "sign", "top_k", "random_k", "threshold", "powersgd"}) {
    // All ranks end with the same bits, or train_threads() complains.
    const Trained found = train_threads(tiny_config("mlp", coded(kind)), 3, 40);
    EXPECT_LT(found.losses.back(), 0.95 * found.losses.front()) << kind;
  }
}

TEST(CodedTraining, FineCodecsStayNearByAndWarmUpIsPlain) {
  const Trained plain = train_threads(tiny_config("mlp", {"sync.kind=all_reduce"}), 2, 5);
  Words warm = coded("sign");
  warm.emplace_back("sync.codec.warmup=5");
  expect_same_bits(train_threads(tiny_config("mlp", warm), 2, 5), plain, "warm-up");
  EXPECT_LT(distance(train_threads(tiny_config("mlp", coded("fp16")), 2, 5).weights, plain.weights),
            5e-3);
}

// What is sent as it is in warm-up is counted so.
TEST(CodedTraining, WarmUpCountsItsBytes) {
  Words warm = coded("int8");
  warm.emplace_back("sync.codec.warmup=2");
  const config::Config config = tiny_config("mlp", warm);
  const auto groups = comm::connect_threads(2, {.timeout = std::chrono::seconds(60)});
  testing::run_rank_threads(2, [&](int rank) {
    const auto r = static_cast<std::size_t>(rank);
    Job job = open_job(config, tiny_kinds(), groups[r]);
    std::vector<parallel::Traffic> all;
    for (int step = 0; step < 4; ++step) all.push_back(job.step->run(step).traffic);
    for (const int step : {0, 1}) {
      EXPECT_EQ(all[static_cast<std::size_t>(step)].sent, all[2].plain);
      EXPECT_EQ(all[static_cast<std::size_t>(step)].plain, all[2].plain);
    }
    EXPECT_GT(all[2].sent, 0);
    EXPECT_LT(3 * all[2].sent, all[2].plain);
    EXPECT_EQ(all[3].sent, all[2].sent);
    groups[r].barrier().wait();
  });
}

class CodedTrainer : public TrainerTest {
 protected:
  // Trains, takes the checkpoints after step 9 away as if they had never been, and goes on.
  void expect_exact_resume(const std::string& name, Words words, int ranks) {
    words.insert(words.end(), {"checkpoint.every=3", "checkpoint.keep=20"});
    run("whole_" + name, words, false, ranks);
    run("cut_" + name, words, false, ranks);
    for (std::int64_t step = 10; step <= 20; ++step) {
      fs::remove_all(checkpoint_at("cut_" + name, step));
    }
    run("cut_" + name, words, true, ranks);
    expect_same_end("whole_" + name, "cut_" + name);
  }
};

TEST_F(CodedTrainer, GoesOnWithItsResiduals) {
  for (const char* kind : {"int8", "powersgd"}) expect_exact_resume(kind, coded(kind), 2);
  const auto saved = newest("whole_int8");
  EXPECT_GT(saved.read("optim/residual.1/" + saved.names().front()).abs().max().item<double>(), 0);
}

TEST_F(CodedTrainer, GoesOnInTheMiddleOfARound) {
  expect_exact_resume("local", {"sync.kind=local", "sync.steps=7"}, 2);
  expect_exact_resume("diloco", {"sync.kind=diloco", "sync.steps=4", "sync.codec.kind=int8"}, 3);
  expect_exact_resume("gossip", {"sync.kind=gossip"}, 3);
  // Fragments are in flight at step 9: sent after steps 8 and 9, or two and five steps ago.
  expect_exact_resume("streamed",
                      {"sync.kind=diloco", "sync.steps=8", "sync.fragments=4", "sync.overlap=2",
                       "sync.codec.kind=int8"},
                      3);
  expect_exact_resume("overlapped", {"sync.kind=diloco", "sync.steps=7", "sync.overlap=6"}, 2);
  expect_exact_resume("delayed", {"sync.kind=delayed"}, 2);
  expect_exact_resume("delayed_int8", {"sync.kind=delayed", "sync.codec.kind=int8"}, 2);
  // Two of three ranks have a fragment in flight.
  expect_exact_resume("gossip_travels",
                      {"sync.kind=gossip", "sync.steps=2", "sync.overlap=2", "sync.slack=1"}, 3);
}

// Batch norm's means are each replica's own.
TEST_F(CodedTrainer, GoesOnWithTheBuffersOfEachReplica) {
  model_ = "resnet";
  expect_exact_resume("buffers", {"sync.kind=local", "sync.steps=7"}, 2);
}

// A fragment in flight is sent again as a whole, so its residual must not be added to it.
TEST_F(CodedTrainer, HasNoResidualOfAFragmentThatIsSentAgain) {
  const Words words{"sync.kind=diloco",      "sync.steps=8",       "sync.overlap=7",
                    "sync.codec.kind=top_k", "checkpoint.every=3", "checkpoint.keep=20"};
  run("again", words, false, 2);
  for (std::int64_t step = 10; step <= 20; ++step) fs::remove_all(checkpoint_at("again", step));
  const auto from = newest("again");
  ASSERT_TRUE(from.has("optim/outer_launched/0"));
  const auto owed = [&](const char* overlap) {
    const Kinds kinds = tiny_kinds();
    const config::Config config = tiny_config("mlp", words + Words{overlap}, kinds);
    const auto groups = comm::connect_threads(2);
    std::vector<double> most(2);
    testing::run_rank_threads(2, [&](int rank) {
      const auto r = static_cast<std::size_t>(rank);
      Job job = open_job(config, kinds, groups[r]);
      job.gradient_sync().saved().restore_own(from);
      for (const checkpoint::Piece& piece : job.gradient_sync().saved().own_pieces()) {
        if (piece.name.find("residual.") == std::string::npos || piece.data.numel() == 0) continue;
        most[r] = std::max(most[r], piece.data.abs().max().item<double>());
      }
      groups[r].barrier().wait();
    });
    return std::max(most[0], most[1]);
  };
  EXPECT_GT(owed("sync.overlap=7"), 0);
  EXPECT_EQ(owed("sync.overlap=0"), 0);
}

// Saved while weights are in flight. A rank that did not exist then continues with its own weights.
TEST_F(CodedTrainer, GossipGoesOnWithAnotherNumberOfRanks) {
  const Words words{"sync.kind=gossip", "sync.steps=2", "sync.overlap=2", "checkpoint.every=3",
                    "checkpoint.keep=20"};
  for (const int ranks : {4, 2}) {
    const std::string name = "gossip_of_" + std::to_string(ranks);
    run(name, words, false, 3);
    for (std::int64_t step = 10; step <= 20; ++step) fs::remove_all(checkpoint_at(name, step));
    const std::vector<std::string> saved = newest(name).names();
    ASSERT_TRUE(std::any_of(saved.begin(), saved.end(), [](const std::string& tensor) {
      return tensor.starts_with("optim/outer_launched.");
    })) << "no fragment was in flight";
    run(name, words, true, ranks);
    EXPECT_EQ(newest(name).step(), 20);
  }
}

TEST_F(CodedTrainer, ResidualsSurviveAnotherNumberOfRanks) {
  Words words = coded("top_k");
  words.emplace_back("train.steps=6");
  run("ranks", words, false, 3);
  const auto three = newest("ranks");
  const std::string name = three.names().front();
  at::Tensor whole;
  for (const char* rank : {"0", "1", "2"}) {
    const at::Tensor own = three.read("optim/residual." + std::string(rank) + "/" + name);
    whole = whole.defined() ? whole + own : own;
  }
  const Kinds kinds = tiny_kinds();
  const config::Config config = tiny_config("mlp", words, kinds);
  const auto groups = comm::connect_threads(2);
  std::vector<at::Tensor> found(2);
  testing::run_rank_threads(2, [&](int rank) {
    const auto r = static_cast<std::size_t>(rank);
    Job job = open_job(config, kinds, groups[r]);
    job.gradient_sync().saved().restore_own(three);
    for (const checkpoint::Piece& piece : job.gradient_sync().saved().own_pieces()) {
      if (piece.name.ends_with("/" + name)) found[r] = piece.data.clone();
    }
    groups[r].barrier().wait();
  });
  EXPECT_TRUE((found[0] + found[1]).allclose(whole.view({-1})));
}

// A turn in every step: as one.
TEST(CodedTraining, FragmentsThatAllGoTogetherAreOne) {
  const auto trained = [](const std::string& fragments) {
    const config::Config config =
        tiny_config("gpt", {"sync.kind=diloco", "sync.steps=1", "sync.fragments=" + fragments});
    const auto groups = comm::connect_threads(2, {.timeout = std::chrono::seconds(60)});
    std::vector<Weights> all(2);
    testing::run_rank_threads(2, [&](int rank) {
      const auto r = static_cast<std::size_t>(rank);
      Job job = open_job(config, tiny_kinds(), groups[r]);
      for (int step = 0; step < 6; ++step) job.step->run(step);
      all[r] = weights_of(*job.model);
      groups[r].barrier().wait();
    });
    EXPECT_EQ(distance(all[0], all[1]), 0);
    return all[0];
  };
  const Weights one = trained("1");
  for (const char* fragments : {"3", "100"}) EXPECT_EQ(distance(trained(fragments), one), 0);
}

TEST(CodedRefusals, NameARemedy) {
  const auto refused = [](const Words& words) {
    return testing::code_of([&] { train_threads(tiny_config("mlp", words), 2, 1); });
  };
  for (const char* kind : {"shared", "zero1", "zero3", "none", "gossip"}) {
    EXPECT_EQ(refused({"sync.kind=" + std::string(kind), "sync.codec.kind=int8"}),
              ErrorCode::InvalidInput)
        << kind;
  }
  EXPECT_EQ(refused({"sync.codec.kind=int8", "train.logical_ranks=4"}), ErrorCode::InvalidInput);
  EXPECT_EQ(refused({"sync.kind=local", "train.logical_ranks=4"}), ErrorCode::InvalidInput);
  EXPECT_EQ(refused({"sync.kind=diloco", "sync.fragments=2", "sync.round.seconds=1"}),
            ErrorCode::InvalidInput);
  EXPECT_EQ(refused({"sync.codec.kind=int8", "train.precision=fp16"}), ErrorCode::InvalidInput);
  // What another codec reads.
  for (const char* unread : {"sync.codec.ratio=0.1", "sync.codec.rank=2", "sync.codec.threshold=2",
                             "sync.codec.level=3"}) {
    EXPECT_EQ(refused({"sync.kind=all_reduce", "sync.codec.kind=int8", unread}),
              ErrorCode::InvalidInput)
        << unread;
    // A recipe's codec can be turned off by one word.
    tiny_config("mlp", {"sync.codec.kind=none", unread});
  }
  EXPECT_EQ(refused({"sync.kind=delayed", "train.precision=fp16"}), ErrorCode::InvalidInput);
}

// The loss scale of fp16 changes gradients, and not the differences of weights that replicas send.
TEST_F(CodedTrainer, ScalesLossesIfResidualsAreOfWeights) {
  const Words scaled{"sync.codec.kind=int8", "train.precision=fp16"};
  for (const Words& words :
       {Words{"sync.kind=hierarchical", "sync.across=gradients"}, {"sync.kind=post_local"}}) {
    EXPECT_EQ(testing::code_of([&] { run("refused", words + scaled, false, 2); }),
              ErrorCode::InvalidInput)
        << words[0];
  }
  for (const Words& words : {Words{"sync.kind=local"},
                             {"sync.kind=diloco"},
                             {"sync.kind=post_local", "sync.begin=0"},
                             {"sync.kind=hierarchical"}}) {
    EXPECT_EQ(run(words[0].substr(10), words + scaled, false, 2).progress.step, 20) << words[0];
  }
}

TEST(CodedRefusals, DoNotConcernOneRankWhichSendsNothing) {
  for (const char* how : {"sync.kind=delayed", "sync.codec.kind=int8"}) {
    EXPECT_NO_THROW(train_threads(tiny_config("mlp", {how, "train.precision=fp16"}), 1, 2)) << how;
  }
}

}  // namespace
}  // namespace trireme::train
