// Goal:   replicas of IndependentReplicas are trained independently, and are equal after join().
// Method: two ranks as threads with different gradients; compared with SGD by hand.

#include "trireme/parallel/independent_replicas.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "trireme/comm/connect_threads.h"
#include "trireme/optim/rule/sgd.h"
#include "trireme/parallel/single_rank.h"
#include "trireme/testing/rank_threads.h"

namespace trireme::parallel {
namespace {

TEST(IndependentReplicas, EachReplicaUsesItsOwnGradientsUntilJoin) {
  constexpr int kRanks = 2;
  const auto groups = comm::connect_threads(kRanks, {.timeout = std::chrono::seconds(30)});
  std::vector<double> before_join(kRanks);
  std::vector<double> after_join(kRanks);
  testing::run_rank_threads(kRanks, [&](int rank) {
    const auto r = static_cast<std::size_t>(rank);
    at::Tensor weight = torch::full({1}, 1.0, torch::kDouble).requires_grad_();
    const auto rule = std::make_shared<optim::Sgd>(optim::SgdConfig{.momentum = 0});
    const std::vector<Parameter> parameters{{.name = "w", .tensor = weight}};
    auto own = std::make_shared<SingleRank>(
        SingleRank::Options{.parameters = parameters, .optimizer = rule});
    IndependentReplicas apart(Replica::alone(own, parameters, groups[r]), {});
    apart.begin_step({.micro_batch_count = kRanks, .micro_batches = {rank}, .owners = {0, 1}});
    // The estimate for a batch of two micro-batches like this one.
    EXPECT_EQ(apart.commit().total(3), 6);
    apart.begin_micro_batch(0);
    // The loss is weighted as half of the global batch; the replica scales it to a whole batch.
    (weight * (rank + 1.0) / kRanks).sum().backward();
    apart.end_micro_batch();
    apart.finish_reduction();
    apart.commit().prepare({.loss = 0.5});
    apart.update({.number = 1, .learning_rate = 0.1});
    before_join[r] = weight.item<double>();
    apart.join();
    after_join[r] = weight.item<double>();
  });
  EXPECT_NEAR(before_join[0], 1 - 0.1 * 1, 1e-12);
  EXPECT_NEAR(before_join[1], 1 - 0.1 * 2, 1e-12);
  EXPECT_NEAR(after_join[0], 1 - 0.1 * 1.5, 1e-12);
  EXPECT_EQ(after_join[0], after_join[1]);
}

// Rank 1's second loss is NaN: its replica drops that step at once, and both ranks learn of it two
// steps later, in the same step.
TEST(IndependentReplicas, WithSlackAllRanksLearnOfANonFiniteStepLater) {
  constexpr int kRanks = 2;
  const auto groups = comm::connect_threads(kRanks, {.timeout = std::chrono::seconds(30)});
  std::vector<std::vector<bool>> told(kRanks);
  std::vector<double> weights(kRanks);
  testing::run_rank_threads(kRanks, [&](int rank) {
    const auto r = static_cast<std::size_t>(rank);
    at::Tensor weight = torch::full({1}, 1.0, torch::kDouble).requires_grad_();
    const auto rule = std::make_shared<optim::Sgd>(optim::SgdConfig{.momentum = 0});
    const std::vector<Parameter> parameters{{.name = "w", .tensor = weight}};
    auto own = std::make_shared<SingleRank>(
        SingleRank::Options{.parameters = parameters, .optimizer = rule});
    IndependentReplicas apart(Replica::alone(own, parameters, groups[r]), {}, {.slack = 2});
    for (int step = 0; step < 5; ++step) {
      apart.begin_step({.step = step,
                        .micro_batch_count = kRanks,
                        .micro_batches = {rank},
                        .owners = {0, 1},
                        .is_checked = true});
      apart.begin_micro_batch(0);
      (weight / kRanks).sum().backward();
      apart.end_micro_batch();
      const bool is_broken = rank == 1 && step == 1;
      apart.finish_reduction();
      const CommitResult all = apart.commit().prepare({.loss = is_broken ? NAN : 0.5});
      EXPECT_EQ(all.loss, 1) << "the loss of the last finite step";
      told[r].push_back(all.is_finite);
      if (all.is_finite) {
        apart.update({.number = step + 1, .learning_rate = 0.1});
      } else {
        apart.drop();
      }
    }
    weights[r] = weight.item<double>();
    apart.join();
  });
  EXPECT_EQ(told[0], (std::vector<bool>{true, true, true, false, true}));
  EXPECT_EQ(told[1], told[0]);
  EXPECT_NEAR(weights[0], 1 - 4 * 0.1, 1e-12);
  EXPECT_NEAR(weights[1], 1 - 3 * 0.1, 1e-12);
}

}  // namespace
}  // namespace trireme::parallel
