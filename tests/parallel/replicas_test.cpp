// Goal:   with Replicas, a program's own optimizer gets the mean of all ranks' gradients, and
//         passes without synchronization accumulate; replicas of IndependentReplicas are averaged
//         at the end.
// Method: ranks as threads with torch::optim::SGD, compared with one process and all losses.

#include "trireme/parallel/replicas.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "tests/parallel/odd_net.h"
#include "trireme/comm/connect_threads.h"
#include "trireme/optim/rule/sgd.h"
#include "trireme/parallel/independent_replicas.h"
#include "trireme/parallel/kinds.h"
#include "trireme/testing/rank_threads.h"

namespace trireme::parallel {
namespace {

constexpr int kSteps = 5;
using Values = std::map<std::string, at::Tensor>;

std::vector<at::Tensor> trained_of(const Odd& net) {
  std::vector<at::Tensor> all;
  for (const Parameter& parameter : parameters_of(net)) all.push_back(parameter.tensor);
  return all;
}

torch::optim::SGD optimizer_of(const Odd& net) {
  return torch::optim::SGD(trained_of(net),
                           torch::optim::SGDOptions(0.1).momentum(0.9).weight_decay(0.05));
}

void make_dense(Odd& net) {
  at::Tensor& gradient = net.table.mutable_grad();
  if (gradient.defined() && gradient.is_sparse()) gradient = gradient.to_dense();
}

// The mean over `ranks` ranks of the sum of `passes` losses each.
Values alone(int ranks, int passes) {
  Odd net;
  auto optimizer = optimizer_of(net);
  for (int step = 0; step < kSteps; ++step) {
    optimizer.zero_grad();
    for (int rank = 0; rank < ranks; ++rank) {
      for (int pass = 0; pass < passes; ++pass) {
        (net.loss(rank, step + pass) / ranks).backward();
        make_dense(net);
      }
    }
    optimizer.step();
  }
  return values_of(net);
}

Values together(int ranks, int passes) {
  const auto groups = comm::connect_threads(ranks);
  std::vector<Values> found(static_cast<std::size_t>(ranks));
  testing::run_rank_threads(ranks, [&](int rank) {
    const auto index = static_cast<std::size_t>(rank);
    Odd net;
    if (rank > 0) net.often.detach().zero_();  // all ranks get rank 0's
    net.named_buffers()["seen"].fill_(rank + 7);
    Replicas replicas(net, groups[index], {.bucket_size = 1024});
    EXPECT_EQ(net.named_buffers()["seen"].item<double>(), 7);
    auto optimizer = optimizer_of(net);
    for (int step = 0; step < kSteps; ++step) {
      optimizer.zero_grad();
      for (int pass = 0; pass + 1 < passes; ++pass) {
        const auto pause = replicas.no_sync();
        net.loss(rank, step + pass).backward();
      }
      net.loss(rank, step + passes - 1).backward();
      make_dense(net);
      optimizer.step();
    }
    found[index] = values_of(net);
    groups[index].barrier().wait();
  });
  for (const Values& other : found) {
    for (const auto& [name, value] : found[0]) EXPECT_TRUE(other.at(name).equal(value)) << name;
  }
  return found[0];
}

void expect_near(const Values& found, const Values& expected, const std::string& what) {
  for (const auto& [name, value] : expected) {
    EXPECT_LT((found.at(name) - value).abs().max().item<double>(), 1e-10) << what << ": " << name;
  }
}

TEST(Replicas, GiveTheOptimizerTheMeanOfAllRanksGradients) {
  for (const int ranks : {1, 2, 3}) {
    expect_near(together(ranks, 1), alone(ranks, 1), std::to_string(ranks) + " ranks");
  }
}

TEST(Replicas, PassesWithoutSynchronizationAccumulate) {
  for (const int ranks : {2, 3}) {
    expect_near(together(ranks, 2), alone(ranks, 2), std::to_string(ranks) + " ranks");
  }
}

// Without synchronization a rank's micro-batch counts as the whole batch, so on one of two ranks
// its weight doubles.
TEST(IndependentReplicas, TrainsReplicasIndependentlyAndAveragesThemAtTheEnd) {
  constexpr int kRanks = 2;
  const auto sync_of = [](Odd& net, const comm::Group& group, const std::string& kind) {
    return make_gradient_sync({.parameters = parameters_of(net),
                               .optimizer = std::make_shared<optim::Sgd>(optim::SgdConfig{}),
                               .group = group,
                               .stretches = {{.kind = kind}}});
  };
  const auto train = [](Odd& net, GradientSync& gradient_sync, const StepPlan& plan, int rank,
                        double weight) {
    for (int step = 0; step < kSteps; ++step) {
      gradient_sync.begin_step(plan);
      gradient_sync.begin_micro_batch(0);
      (net.loss(rank, step) * weight).backward();
      gradient_sync.end_micro_batch();
      gradient_sync.finish_reduction();
      gradient_sync.commit().prepare({.loss = 1});
      gradient_sync.update({.number = step + 1, .learning_rate = 0.01});
    }
  };
  std::vector<Values> single;
  for (int rank = 0; rank < kRanks; ++rank) {
    Odd net;
    const auto gradient_sync = sync_of(net, comm::Group::solo(), "auto");
    train(net, *gradient_sync, {}, rank, kRanks);
    single.push_back(values_of(net));
  }
  const auto groups = comm::connect_threads(kRanks);
  testing::run_rank_threads(kRanks, [&](int rank) {
    const auto index = static_cast<std::size_t>(rank);
    Odd net;
    const auto gradient_sync = sync_of(net, groups[index], "none");
    train(net, *gradient_sync,
          {.micro_batch_count = kRanks, .micro_batches = {rank}, .owners = {0, 1}}, rank, 1);
    expect_near(values_of(net), single[index], "before they join");
    gradient_sync->model().join();
    const Values joined = values_of(net);
    for (const auto& [name, value] : single[0]) {
      const at::Tensor mean = (value + single[1].at(name)) / 2;
      EXPECT_LT((joined.at(name) - mean).abs().max().item<double>(), 1e-12) << name;
    }
    groups[index].barrier().wait();
  });
}

}  // namespace
}  // namespace trireme::parallel
