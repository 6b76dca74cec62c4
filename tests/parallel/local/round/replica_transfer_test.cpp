// Goal:   replicas are averaged, and copied to ranks that have no state, with their optimizer
//         state.
// Method: three ranks as threads with one replica each, whose weights are their rank.

#include "trireme/parallel/local/round/replica_transfer.h"

#include "tests/parallel/local/round/one_weight.h"

namespace trireme::parallel::local {
namespace {

TEST(ReplicaTransfer, AveragesAndCopiesWholeReplicas) {
  on_ranks(3, [](const comm::Group& group) {
    const int rank = group.rank();
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
  });
}

}  // namespace
}  // namespace trireme::parallel::local
