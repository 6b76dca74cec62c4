// Goal:   replicas are averaged, and copied to ranks that have no state, with their optimizer
//         state.
// Method: three ranks as threads with one replica each, whose weights are their rank.

#include "trireme/parallel/local/replica_transfer.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "trireme/comm/connect_threads.h"
#include "trireme/optim/rule/sgd.h"
#include "trireme/parallel/single_rank.h"
#include "trireme/testing/rank_threads.h"

namespace trireme::parallel::local {
namespace {

Replica replica_of(const comm::Group& group, const at::Tensor& weight) {
  const std::vector<Parameter> parameters{{.name = "w", .tensor = weight}};
  const auto optimizer = std::make_shared<optim::Sgd>(optim::SgdConfig{.momentum = 0.9});
  Replica replica = Replica::alone(std::make_shared<SingleRank>(SingleRank::Options{
                                       .parameters = parameters, .optimizer = optimizer}),
                                   parameters, group);
  replica.states = optimizer->state_names();
  for (int rank = 0; rank < group.size(); ++rank) replica.numbers.push_back(rank);
  return replica;
}

TEST(ReplicaTransfer, AveragesAndCopiesWholeReplicas) {
  const auto groups = comm::connect_threads(3, {.timeout = std::chrono::seconds(30)});
  testing::run_rank_threads(3, [&](int rank) {
    const c10::NoGradGuard no_grad;
    const comm::Group& group = groups[static_cast<std::size_t>(rank)];
    const at::Tensor weight = torch::full({5}, static_cast<float>(rank)).requires_grad_();
    const Replica replica = replica_of(group, weight);
    for (const checkpoint::Piece& piece : replica.own->saved().pieces()) {
      if (piece.name != "w") piece.data.fill_(10 + rank);
    }
    const ReplicaState mean = mean_state(replica);
    ASSERT_EQ(mean.size(), 2U);
    for (const auto& [name, tensor] : mean) {
      EXPECT_TRUE(tensor.eq(name == "w" ? 1 : 11).all().item<bool>()) << name;
    }
    give_state(replica, 2, /*is_given=*/rank == 0);
    EXPECT_EQ(weight[0].item<float>(), rank == 0 ? 2 : rank);
    write_state(replica, mean);
    EXPECT_EQ(weight[4].item<float>(), 1);
    group.barrier().wait();
  });
}

}  // namespace
}  // namespace trireme::parallel::local
