// Goal:   parameters that are unused in some steps, on some ranks, or always, or that are frozen,
//         tied, used twice, or have sparse gradients, are updated as by one PyTorch optimizer.
// Method: every rank adds its own term to one loss. The reference is torch::optim::SGD with
//         momentum and weight decay on the whole sum. All parameters must be equal, and those
//         without a gradient must not change.

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <memory>

#include "tests/parallel/odd_net.h"
#include "trireme/comm/connect_threads.h"
#include "trireme/optim/rule/sgd.h"
#include "trireme/parallel/kinds.h"
#include "trireme/parallel/parameter.h"
#include "trireme/parallel/sync_config.h"
#include "trireme/testing/rank_threads.h"

namespace trireme::parallel {
namespace {

constexpr int kOddSteps = 6;
constexpr double kRate = 0.1;
constexpr double kMomentum = 0.9;
constexpr double kDecay = 0.05;

std::map<std::string, at::Tensor> by_pytorch(int ranks) {
  Odd net;
  std::vector<at::Tensor> trained;
  for (const Parameter& parameter : parameters_of(net)) trained.push_back(parameter.tensor);
  torch::optim::SGD optimizer(
      trained, torch::optim::SGDOptions(kRate).momentum(kMomentum).weight_decay(kDecay));
  for (int step = 0; step < kOddSteps; ++step) {
    for (int rank = 0; rank < ranks; ++rank) net.loss(rank, step).backward();
    at::Tensor& sparse = net.table.mutable_grad();
    if (sparse.is_sparse()) sparse = sparse.to_dense();
    optimizer.step();
    optimizer.zero_grad(/*set_to_none=*/true);
  }
  return values_of(net);
}

std::shared_ptr<GradientSync> sync_of(Odd& net, const comm::Group& group,
                                      const std::string& choice) {
  return make_gradient_sync(
      {.parameters = parameters_of(net,
                                   [](const auto&, const auto&) {
                                     return Treatment{.lr_factor = 1, .weight_decay = kDecay};
                                   }),
       .buffers = net.buffers(),
       .optimizer = std::make_shared<optim::Sgd>(optim::SgdConfig{.momentum = kMomentum}),
       .group = group,
       .stretches = {{.kind = choice}},
       .bucket_size = 1024});
}

// The micro-batches are distributed over the ranks.
std::map<std::string, at::Tensor> by_us(int ranks, int micro_batches, const std::string& choice) {
  std::vector<comm::Group> groups{comm::Group::solo()};
  if (ranks > 1) groups = comm::connect_threads(ranks);
  std::vector<int> owners;
  for (int micro_batch = 0; micro_batch < micro_batches; ++micro_batch)
    owners.push_back(micro_batch * ranks / micro_batches);
  std::map<std::string, at::Tensor> found;
  testing::run_rank_threads(ranks, [&](int rank) {
    Odd net;
    net.named_buffers()["seen"].fill_(rank + 7);
    const auto gradient_sync = sync_of(net, groups[static_cast<std::size_t>(rank)], choice);
    std::vector<int> mine;
    for (int micro_batch = 0; micro_batch < micro_batches; ++micro_batch) {
      if (owners[static_cast<std::size_t>(micro_batch)] == rank) mine.push_back(micro_batch);
    }
    for (int step = 0; step < kOddSteps; ++step) {
      gradient_sync->begin_step(
          {.micro_batch_count = micro_batches, .micro_batches = mine, .owners = owners});
      EXPECT_EQ(net.named_buffers()["seen"].item<double>(), 7) << "all ranks have rank 0's buffers";
      double loss = 0;
      for (std::size_t i = 0; i < mine.size(); ++i) {
        gradient_sync->begin_micro_batch(i);
        const at::Tensor term = net.loss(mine[i], step);
        loss += term.item<double>();
        term.backward();
        gradient_sync->end_micro_batch();
      }
      gradient_sync->finish_reduction();
      const CommitResult all =
          gradient_sync->commit().prepare({.loss = loss, .is_stop_wanted = rank == step});
      EXPECT_EQ(all.is_stop_wanted, step < ranks);
      gradient_sync->update({.number = step + 1, .learning_rate = kRate});
    }
    gradient_sync->model().settle();
    if (rank == 0) found = values_of(net);
    if (ranks > 1) groups[static_cast<std::size_t>(rank)].barrier().wait();
  });
  return found;
}

TEST(OddParameters, AreUpdatedAsByPyTorch) {
  const auto first = values_of(Odd());
  for (const int micro_batches : {1, 2, 3}) {
    const auto expected = by_pytorch(micro_batches);
    const auto compare = [&](const auto& found, const std::string& what) {
      ASSERT_EQ(found.size(), expected.size());
      for (const auto& [name, value] : expected) {
        EXPECT_LT((found.at(name) - value).abs().max().template item<double>(), 1e-10)
            << name << ", " << what << ", " << micro_batches << " micro-batches";
      }
      EXPECT_TRUE(found.at("never").equal(first.at("never"))) << what;
      EXPECT_TRUE(found.at("frozen").equal(first.at("frozen"))) << what;
    };
    compare(by_us(1, micro_batches, "auto"), "alone");
    if (micro_batches == 1) continue;
    for (const auto& [choice, name] :
         {std::pair("all_reduce", "all_reduce"), std::pair("shared", "shared"),
          std::pair("zero1", "zero1"), std::pair("zero2", "zero2"), std::pair("zero3", "zero3")}) {
      compare(by_us(micro_batches, micro_batches, choice), name);
      compare(by_us(2, micro_batches, choice), std::string(name) + " on two ranks");
    }
  }
}

TEST(Parameters, ContainEachTrainedTensorOnce) {
  const Odd net;
  std::vector<std::string> names;
  for (const Parameter& parameter : parameters_of(net)) names.push_back(parameter.name);
  EXPECT_EQ(names, (std::vector<std::string>{"often", "sometimes", "by_one", "never", "tied",
                                             "table", "single"}));
  const auto treated = parameters_of(net, [](const std::string& name, const at::Tensor& tensor) {
    return Treatment{.lr_factor = name == "often" ? 0.5 : 1,
                     .weight_decay = tensor.dim() > 1 ? 0.1 : 0};
  });
  EXPECT_EQ(treated[0].lr_factor, 0.5);
  EXPECT_EQ(treated[0].weight_decay, 0.1);
  EXPECT_EQ(treated[1].weight_decay, 0);
}

}  // namespace
}  // namespace trireme::parallel
