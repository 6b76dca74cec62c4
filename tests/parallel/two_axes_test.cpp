// Goal:   with a second axis beside data parallelism, gradients and weights are combined along the
//         data axis alone, steps are committed by all ranks, and parameters know their places.
// Method: four ranks as threads in a mesh of two axes, each with a shard of one weight; by hand.

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "trireme/comm/connect_threads.h"
#include "trireme/mesh/mesh.h"
#include "trireme/optim/rule/sgd.h"
#include "trireme/parallel/kinds.h"
#include "trireme/testing/rank_threads.h"

namespace trireme::parallel {
namespace {

constexpr int kMeshRanks = 4;
constexpr double kAxisRate = 0.5;

void on_mesh(const std::function<void(const mesh::Mesh&)>& body) {
  const auto groups = comm::connect_threads(kMeshRanks, {.timeout = std::chrono::seconds(30)});
  testing::run_rank_threads(kMeshRanks, [&](int rank) {
    const comm::Group& all = groups[static_cast<std::size_t>(rank)];
    body(mesh::Mesh(all, {{"data", 2}, {"tensor", 2}}));
    all.barrier().wait();
  });
}

// The sum of gradients along the data axis is 1 + 2, times ten on the second shard.
TEST(TwoAxes, GradientsAreSummedAlongTheDataAxisAndAllRanksCommit) {
  for (const char* kind : {"all_reduce", "zero1", "local", "delayed"}) {
    SCOPED_TRACE(kind);
    on_mesh([&](const mesh::Mesh& mesh) {
      const int data = mesh.place("data"), tensor = mesh.place("tensor");
      at::Tensor weight = torch::zeros({4}, torch::kDouble).requires_grad_();
      const auto sync = make_gradient_sync(
          {.parameters = {{.name = "w", .tensor = weight}},
           .optimizer = std::make_shared<optim::Sgd>(optim::SgdConfig{.momentum = 0}),
           .group = mesh.group("data"),
           .commit_group = mesh.all(),
           .stretches = {{.kind = kind, .pace = {.steps = 1}}}});
      for (int step = 0; step < 2; ++step) {
        sync->begin_step(
            {.step = step, .micro_batch_count = 2, .micro_batches = {data}, .owners = {0, 1}});
        sync->begin_micro_batch(0);
        (weight * ((data + 1) * (tensor == 0 ? 1 : 10))).sum().backward();
        sync->end_micro_batch();
        sync->finish_reduction();
        const bool is_asked = mesh.all().rank() == 3;
        const CommitResult all = sync->commit().prepare({.is_stop_wanted = is_asked});
        EXPECT_TRUE(all.is_stop_wanted) << "a rank of another shard and another replica asked";
        sync->update({.number = step + 1, .rate = kAxisRate});
      }
      sync->model().join();
      sync->model().settle();
      const int applied = std::string(kind) == "delayed" ? 1 : 2;
      EXPECT_EQ(weight[0].item<double>(), -kAxisRate * applied * 3 * (tensor == 0 ? 1 : 10));
    });
  }
}

TEST(TwoAxes, AParameterIsTheShardOfItsPlace) {
  on_mesh([](const mesh::Mesh& mesh) {
    const torch::nn::Linear half(3, 2);
    Parameter weight = parameters_of(*half, {}, mesh.places()).at(0);
    weight.layout = mesh::Layout({{4, 3}}, {{"tensor", 0}});
    EXPECT_EQ(weight.shard(), mesh::Layout({{4, 3}}, {{"tensor", 0}}).shard(mesh.places()));
    EXPECT_EQ(weight.shard().count(), weight.tensor.numel());
  });
}

}  // namespace
}  // namespace trireme::parallel
