// Goal:   a model is divided into fragments of adjacent parameters with about the same number of
//         elements, and the traffic of all of them is counted. The distance of a replica of
//         several ranks counts every element once.
// Method: parameters of different sizes; two ranks as threads, or two replicas of two ranks.

#include "trireme/parallel/local/fragments.h"

#include <cmath>

#include "tests/mesh/mesh_threads.h"
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

TEST(Fragments, DistanceCountsElementsThatSeveralRanksHoldOnce) {
  mesh::run_mesh_threads([](const mesh::Mesh& mesh) {
    const c10::NoGradGuard no_grad;
    const auto ones = [](std::int64_t count) { return torch::ones({count}).requires_grad_(); };
    const std::vector<Parameter> parameters{
        {.name = "shard",
         .tensor = ones(4),
         .layout = mesh::Layout(mesh::View({8}), {{"tensor", 0}}),
         .places = mesh.places("data")},
        {.name = "replicated", .tensor = ones(3), .places = mesh.places("data")}};
    const auto optimizer = std::make_shared<optim::Sgd>(optim::SgdConfig{.momentum = 0});
    const auto own = std::make_shared<SingleRank>(SingleRank::Options{
        .parameters = parameters, .optimizer = optimizer, .replica_group = mesh.group("tensor")});
    Replica replica = Replica::alone(own, parameters, mesh.group("data"));
    replica.inside = mesh.group("tensor");
    Fragments fragments({.flat = {}, .pace = {.end = {.divergence = 1}}}, replica);
    at::Tensor(parameters[0].tensor).add_(2);
    at::Tensor(parameters[1].tensor).add_(1);
    EXPECT_NEAR(fragments.distance(), std::sqrt((8 * 4 + 3) / 11.0), 1e-6);
  });
}

}  // namespace
}  // namespace trireme::parallel::local
