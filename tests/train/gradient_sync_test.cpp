// Goal:   N ranks give the same result as one rank that runs the same micro-batches, and as one
//         batch of all samples; with fixed virtual ranks it is bitwise independent of N.
// Method: ranks are threads, each with a model of its own. In float64, 20 steps over uneven batches
//         must agree within 1e-10 in every parameter; in float32 virtual ranks must agree exactly.

#include "trireme/parallel/gradient_sync.h"

#include <gmock/gmock.h>

#include "tests/comm/hosted_ranks.h"
#include "tests/comm/tcp_ranks.h"
#include "tests/train/tiny_job.h"
#include "trireme/comm/connect_threads.h"
#include "trireme/parallel/common_model.h"
#include "trireme/parallel/data/data_parallel.h"
#include "trireme/parallel/data/gradient/pass_hooks.h"
#include "trireme/parallel/kinds.h"
#include "trireme/parallel/pass_services.h"
#include "trireme/parallel/saved_state.h"
#include "trireme/parallel/single_rank.h"

namespace trireme::train {
namespace {

constexpr int kSteps = 20;
constexpr double kNear = 1e-10;

using KindAndModel = std::tuple<std::string, std::string>;  // sync.kind, model

class GradientSync : public ::testing::TestWithParam<KindAndModel> {
 protected:
  std::string how() const { return "sync.kind=" + std::get<0>(GetParam()); }
  std::string model() const { return std::get<1>(GetParam()); }
};

TEST_P(GradientSync, OfManyRanksIsThatOfOne) {
  const std::string model64 = model() + "64";
  const Trained whole = train_threads(tiny_config(model64, {}), 1, kSteps);
  const Trained untrained = train_threads(tiny_config(model64, {}), 1, 0);
  ASSERT_GT(distance(whole.weights, untrained.weights), 1e-2) << "nothing was learned";
  for (const int ranks : {2, 3, 4}) {
    for (const int accumulate : {1, 2}) {
      const std::string micro_batches = std::to_string(accumulate * ranks);
      const Trained alone = train_threads(
          tiny_config(model64, {"train.grad_accum_steps=" + micro_batches}), 1, kSteps);
      const Trained many = train_threads(
          tiny_config(model64, {how(), "train.grad_accum_steps=" + std::to_string(accumulate)}),
          ranks, kSteps);
      const std::string what =
          std::to_string(ranks) + " ranks, " + std::to_string(accumulate) + " micro-batches each";
      EXPECT_LT(distance(many.weights, alone.weights), kNear) << what << ", compared with one rank";
      EXPECT_LT(distance(many.weights, whole.weights), kNear) << what << ", against one batch";
      for (std::size_t i = 0; i < whole.losses.size(); ++i) {
        EXPECT_NEAR(many.losses[i], whole.losses[i], kNear) << what << ", step " << i;
      }
    }
  }
}

TEST_P(GradientSync, WithClippingIsThatOfOne) {
  const Words clipped{how(), "optim.max_grad_norm=0.1", "train.non_finite=skip"};
  const Trained whole = train_threads(tiny_config(model() + "64", clipped), 1, kSteps);
  const Trained many = train_threads(tiny_config(model() + "64", clipped), 3, kSteps);
  EXPECT_LT(distance(many.weights, whole.weights), kNear);
  const Words cut{how(), "optim.max_grad_value=0.001"};
  EXPECT_LT(distance(train_threads(tiny_config(model() + "64", cut), 2, kSteps).weights,
                     train_threads(tiny_config(model() + "64", cut), 1, kSteps).weights),
            kNear);
}

TEST_P(GradientSync, OfVirtualRanksIsTheSameToTheBit) {
  for (const char* clip : {"optim.max_grad_norm=0", "optim.max_grad_norm=0.1"}) {
    // With eight and ten, some have no samples in the last step of an epoch.
    for (const char* micro_batches : {"train.logical_ranks=4", "train.logical_ranks=7",
                                      "train.logical_ranks=8", "train.logical_ranks=10"}) {
      const config::Config config = tiny_config(model(), {how(), clip, micro_batches});
      const Trained one = train_threads(config, 1, 8);
      for (const int ranks : {2, 3, 4}) {
        expect_same_bits(train_threads(config, ranks, 8), one,
                         std::string(clip) + " " + micro_batches + " on " + std::to_string(ranks));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, GradientSync,
    ::testing::Combine(::testing::Values("all_reduce", "shared", "zero1", "zero2", "zero3"),
                       ::testing::Values("mlp", "cnn", "gpt")),
    [](const auto& of) { return std::get<0>(of.param) + "_" + std::get<1>(of.param); });

TEST(AgreementOf, RecomputedTiedWeightsIsThatOfOne) {
  const Trained whole = train_threads(tiny_config("gpt64", {}), 1, kSteps);
  const Words recomputed{"model.activation_checkpointing=true"};
  EXPECT_LT(
      distance(train_threads(tiny_config("gpt64", recomputed), 1, kSteps).weights, whole.weights),
      kNear);
  for (const char* how :
       {"sync.kind=all_reduce", "sync.kind=shared", "sync.kind=zero2", "sync.kind=zero3"}) {
    EXPECT_LT(distance(train_threads(tiny_config("gpt64", {recomputed[0], how}), 2, kSteps).weights,
                       whole.weights),
              kNear)
        << how;
  }
}

// Without memory in common, over TCP.
Trained train_apart(const config::Config& config, int ranks, int steps) {
  at::set_num_threads(1);
  std::vector<Trained> all(static_cast<std::size_t>(ranks));
  comm::run_tcp_ranks({.count = ranks}, [&](const comm::Group& group) {
    Job job = open_job(config, tiny_kinds(), group);
    for (int step = 0; step < steps; ++step) job.step->run(step);
    job.gradient_sync().model().settle();
    all[static_cast<std::size_t>(group.rank())].weights = weights_of(*job.model);
    EXPECT_EQ(job.gradient_sync().model().first_not_finite(true), "");
  });
  for (const Trained& other : all) expect_same_bits(other, all[0], "ranks differ");
  return all[0];
}

// Layers wide enough to write their gradients where they are wanted, tied and not.
TEST(AgreementOf, GradientsWrittenInPlaceIsThatOfOne) {
  for (const char* tied : {"model.tie_word_embeddings=true", "model.tie_word_embeddings=false"}) {
    const Words wide{"model.hidden_size=128", "model.vocab_size=300", tied};
    const Trained whole = train_threads(tiny_config("gpt64", wide), 1, 5);
    Words plain = wide;
    plain.push_back("train.logical_ranks=1");
    EXPECT_LT(distance(train_threads(tiny_config("gpt64", plain), 1, 5).weights, whole.weights),
              kNear)
        << "where nothing is written in place";
    for (const std::string more : {"sync.kind=all_reduce", "sync.kind=shared", "sync.kind=zero3",
                                   "train.grad_accum_steps=2"}) {
      Words words = wide;
      words.push_back(more);
      EXPECT_LT(distance(train_threads(tiny_config("gpt64", words), 2, 5).weights, whole.weights),
                kNear)
          << tied << ", " << more;
    }
    Words apart = wide;
    apart.push_back("sync.kind=zero3");
    EXPECT_LT(distance(train_apart(tiny_config("gpt64", apart), 2, 5).weights, whole.weights),
              kNear);
  }
}

// One copy in 16 bits, written when weights change, is what every rank would have cast.
TEST(AgreementOf, WeightsCopiedInNarrowTypesIsThatOfOne) {
  for (const std::string precision : {"bf16", "fp16"}) {
    const Words words{"train.precision=" + precision, "train.logical_ranks=4", "optim.lr=0.1",
                      "model.hidden_size=64", "model.vocab_size=640"};
    const Trained one = train_threads(tiny_config("gpt", words), 1, 8);
    for (const std::string kind : {"all_reduce", "shared", "zero1", "zero2", "zero3"}) {
      Words many = words;
      many.push_back("sync.kind=" + kind);
      for (const int ranks : {2, 3}) {
        expect_same_bits(train_threads(tiny_config("gpt", many), ranks, 8), one,
                         precision + " " + kind + " on " + std::to_string(ranks));
      }
    }
  }
}

TEST(AgreementOf, DriftIsFound) {
  const config::Config config = tiny_config("mlp", {"sync.kind=all_reduce"});
  const std::vector<comm::Group> groups = comm::connect_threads(2);
  testing::run_rank_threads(2, [&](int rank) {
    Job job = open_job(config, tiny_kinds(), groups[static_cast<std::size_t>(rank)]);
    job.step->run(0);
    EXPECT_NO_THROW(job.gradient_sync().model().check());
    {
      const c10::NoGradGuard no_grad;
      if (rank == 1) job.model->parameters()[1].view({-1})[0] += 1;
    }
    try {
      job.gradient_sync().model().check();
      ADD_FAILURE() << "a copy that differs was not found";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Mismatch);
      EXPECT_NE(std::string(error.what()).find(job.model->named_parameters().keys()[1]),
                std::string::npos)
          << error.what();
    }
  });
}

TEST(AgreementOf, DropoutDoesNotDependOnRanks) {
  const Words dropped{"model.dropout=0.3"};
  const Trained whole = train_threads(tiny_config("gpt64", dropped), 1, kSteps);
  EXPECT_GT(distance(whole.weights, train_threads(tiny_config("gpt64", {}), 1, kSteps).weights),
            1e-6);
  EXPECT_LT(
      distance(train_threads(tiny_config("gpt64", dropped), 3, kSteps).weights, whole.weights),
      kNear);
}

TEST(AgreementOf, RanksOnHostsOfTheirOwnIsThatOfOne) {
  const Trained bits = train_threads(tiny_config("mlp", {"train.logical_ranks=4"}), 1, 8);
  for (const std::string kind : {"auto", "all_reduce", "shared", "zero1", "zero2", "zero3"}) {
    const Words fixed{"sync.kind=" + kind, "train.logical_ranks=4"};
    expect_same_bits(train_apart(tiny_config("mlp", fixed), 3, 8), bits, kind);
  }
  for (const auto& [model, ranks] :
       {std::pair{"mlp64", 2}, {"mlp64", 4}, {"cnn64", 3}, {"gpt64", 3}}) {
    const Trained whole = train_threads(tiny_config(model, {}), 1, kSteps);
    for (const std::string kind : {"all_reduce", "shared", "zero1", "zero2", "zero3"}) {
      const Trained many = train_apart(tiny_config(model, {"sync.kind=" + kind}), ranks, kSteps);
      EXPECT_LT(distance(many.weights, whole.weights), kNear) << kind << ", " << model;
    }
  }
}

TEST(AgreementOf, OneCopyRequiresTheSameNumberOfRanksOnEachHost) {
  comm::run_hosted_ranks(
      {"a", "a", "b"}, comm::Transport::Auto, [&](cluster::World&, const comm::Group& group) {
        try {
          open_job(tiny_config("mlp", {"sync.kind=shared"}), tiny_kinds(), group);
          ADD_FAILURE() << "two copies on one host and one on the other";
        } catch (const Error& error) {
          EXPECT_EQ(error.code(), ErrorCode::InvalidInput) << error.what();
        }
      });
}

// Two hosts of two ranks: memory in common inside each, TCP across.
Trained train_hosted(const config::Config& config, int steps) {
  at::set_num_threads(1);
  std::vector<Trained> all(4);
  comm::run_hosted_ranks({"a", "b", "a", "b"}, comm::Transport::Auto,
                         [&](cluster::World&, const comm::Group& group) {
                           Job job = open_job(config, tiny_kinds(), group);
                           for (int step = 0; step < steps; ++step) job.step->run(step);
                           job.gradient_sync().model().check();
                           job.gradient_sync().model().settle();
                           const auto rank = static_cast<std::size_t>(group.rank());
                           all[rank].weights = weights_of(*job.model);
                         });
  for (const Trained& other : all) expect_same_bits(other, all[0], "ranks differ");
  return all[0];
}

TEST(AgreementOf, TwoHostsOfTwoIsThatOfOne) {
  const Words clipped{"optim.max_grad_norm=0.1"};
  const Trained whole = train_threads(tiny_config("gpt64", clipped), 1, kSteps);
  const Trained bits = train_threads(tiny_config("mlp", {"train.logical_ranks=5"}), 1, 8);
  for (const std::string kind : {"auto", "all_reduce", "shared", "zero1", "zero2", "zero3"}) {
    for (const std::string where : {"false", "true"}) {
      if (where == "true" && !kind.starts_with("zero")) continue;
      const Words words{"sync.kind=" + kind, "sync.hybrid_shard=" + where};
      Words all = words;
      all.push_back(clipped[0]);
      EXPECT_LT(distance(train_hosted(tiny_config("gpt64", all), kSteps).weights, whole.weights),
                kNear)
          << kind << ", in hosts " << where;
      all = words;
      all.push_back("train.logical_ranks=5");
      expect_same_bits(train_hosted(tiny_config("mlp", all), 8), bits, kind + " " + where);
    }
  }
}

TEST(AgreementOf, ShardsWithinHostsRequireHostsOfOneSizeAndAStrategyThatShards) {
  const auto refusal = [](const std::string& kind, const std::vector<std::string>& hosts) {
    std::vector<std::string> messages(hosts.size());
    const Words words{"sync.kind=" + kind, "sync.hybrid_shard=true"};
    comm::run_hosted_ranks(hosts, comm::Transport::Auto,
                           [&](cluster::World&, const comm::Group& group) {
                             try {
                               open_job(tiny_config("mlp", words), tiny_kinds(), group);
                             } catch (const Error& error) {
                               messages[static_cast<std::size_t>(group.rank())] = error.message();
                             }
                             group.barrier().wait();
                           });
    return messages[0];
  };
  EXPECT_THAT(refusal("zero2", {"a", "a", "b"}), ::testing::HasSubstr("the same number of ranks"));
  EXPECT_THAT(refusal("all_reduce", {"a", "b"}),
              ::testing::HasSubstr("does not support sync.hybrid_shard; use one of zero1, zero2"));
  EXPECT_EQ(refusal("zero2", {"a", "a", "b", "b"}), "");
}

// Each rank has slices of its own and gathers blocks while they run.
TEST(AgreementOf, GatheredBlocksIsThatOfOne) {
  for (const std::string model : {"mlp64", "cnn64", "gpt64"}) {
    const Trained whole = train_threads(tiny_config(model, {}), 1, kSteps);
    for (const int ranks : {2, 3}) {
      for (const std::string more : {"train.grad_accum_steps=1", "train.grad_accum_steps=2",
                                     "train.logical_ranks=4", "sync.bucket_size=1KiB"}) {
        const Words words{"sync.kind=zero3", more};
        EXPECT_LT(
            distance(train_apart(tiny_config(model, words), ranks, kSteps).weights, whole.weights),
            kNear)
            << model << ", " << ranks << " ranks, " << more;
      }
    }
  }
  const Trained whole = train_threads(tiny_config("gpt64", {}), 1, kSteps);
  const Words recomputed{"sync.kind=zero3", "model.activation_checkpointing=true"};
  EXPECT_LT(
      distance(train_apart(tiny_config("gpt64", recomputed), 2, kSteps).weights, whole.weights),
      kNear);
}

TEST(AgreementOf, RanksWithNothingToDoIsRefused) {
  const config::Config config = tiny_config("mlp", {"train.logical_ranks=2"});
  try {
    train_threads(config, 3, 3);
    ADD_FAILURE() << "three ranks shared two micro-batches";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidInput) << error.what();
  }
}

}  // namespace
}  // namespace trireme::train
