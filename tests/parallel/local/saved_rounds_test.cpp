// Goal:   the first replica is saved as the model, and the others under names of their own, with
//         their buffers.
// Method: two ranks as threads with one weight each; the names of their pieces.

#include <set>

#include "tests/parallel/local/round/one_weight.h"
#include "trireme/parallel/local/rounds.h"

namespace trireme::parallel::local {
namespace {

std::set<std::string> names_of(const std::vector<checkpoint::Piece>& pieces) {
  std::set<std::string> names;
  for (const checkpoint::Piece& piece : pieces) names.insert(piece.name);
  return names;
}

TEST(SavedRounds, EveryReplicaHasItsOwnNames) {
  on_ranks(2, [](const comm::Group& group) {
    const at::Tensor weight = torch::ones({4}).requires_grad_();
    Rounds rounds(
        {.replica = replica_of(group, weight), .buffers = {torch::ones({1})}, .flat = {}});
    SavedState& saved = rounds.saved();
    EXPECT_EQ(names_of(saved.pieces()), (std::set<std::string>{"w", "optim/momentum_buffer/w"}));
    EXPECT_EQ(saved.holders()->is_first, group.rank() == 0);
    const std::set<std::string> expected =
        group.rank() == 0
            ? std::set<std::string>{"optim/outer_alike/replicas"}
            : std::set<std::string>{"optim/replica.1/w", "optim/replica.1/optim/momentum_buffer/w",
                                    "optim/replica.1/buffer.0"};
    EXPECT_EQ(names_of(saved.own_pieces()), expected);
  });
}

}  // namespace
}  // namespace trireme::parallel::local
