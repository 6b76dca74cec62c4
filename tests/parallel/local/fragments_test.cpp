// Goal:   a model is divided into fragments of adjacent parameters with about the same number of
//         elements, and the traffic of all of them is counted.
// Method: parameters of different sizes; two ranks as threads.

#include "trireme/parallel/local/fragments.h"

#include "tests/parallel/local/round/one_weight.h"

namespace trireme::parallel::local {
namespace {

TEST(Fragments, HaveAboutTheSameSize) {
  on_ranks(2, [](const comm::Group& group) {
    Replica replica = Replica::alone(nullptr, {}, group);
    for (const int size : {48, 48, 32, 64, 64}) {
      replica.parameters.push_back({.name = std::to_string(replica.parameters.size()),
                                    .tensor = torch::ones({size}, torch::kFloat)});
    }
    Fragments fragments({.flat = {}, .pace = {.fragments = 2}}, replica);
    ASSERT_EQ(fragments.count(), 2U);
    for (std::size_t i = 0; i < 2; ++i) {
      fragments[i].depart(0);
      fragments.send(i);
      EXPECT_EQ(fragments.take_traffic().plain, 4 * 128) << i;
      fragments[i].arrive();
    }
    EXPECT_EQ(fragments.take_traffic().plain, 0);
  });
}

}  // namespace
}  // namespace trireme::parallel::local
