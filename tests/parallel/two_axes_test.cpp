// Goal:   with a second axis beside data parallelism, gradients and weights are combined along the
//         data axis alone, steps are committed by all ranks, and parameters know their places. The
//         norm counts every element and the loss every sample once, however many ranks hold them.
//         Ranks with other parameters do not decide which ones are used.
// Method: four ranks as threads in a mesh of two axes, each with a shard of one weight; by hand. A
//         tiny job whose replicas are two ranks that run the same passes, compared with one rank.

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "tests/mesh/mesh_threads.h"
#include "tests/train/tiny_job.h"
#include "trireme/optim/kinds.h"
#include "trireme/optim/rule/sgd.h"
#include "trireme/parallel/kinds.h"
#include "trireme/testing/code_of.h"

namespace trireme::parallel {
namespace {

constexpr double kAxisRate = 0.5;

std::shared_ptr<GradientSync> sync_on(const mesh::Mesh& mesh, const std::string& kind,
                                      std::vector<Parameter> parameters) {
  return make_gradient_sync(
      {.parameters = std::move(parameters),
       .optimizer = std::make_shared<optim::Sgd>(optim::SgdConfig{.momentum = 0}),
       .group = mesh.group("data"),
       .replica_group = mesh.group("tensor"),
       .commit_group = mesh.all(),
       .stretches = {
           {.kind = kind, .pace = {.steps = 1, .crossing = local::Crossing::Gradients}}}});
}

// The sum of gradients along the data axis is 1 + 2, times ten on the second shard.
TEST(TwoAxes, GradientsAreSummedAlongTheDataAxisAndAllRanksCommit) {
  for (const char* kind : {"all_reduce", "zero1", "local", "delayed"}) {
    SCOPED_TRACE(kind);
    mesh::run_mesh_threads([&](const mesh::Mesh& mesh) {
      const int data = mesh.place("data"), tensor = mesh.place("tensor");
      at::Tensor weight = torch::zeros({4}, torch::kDouble).requires_grad_();
      const auto sync = sync_on(mesh, kind, {{.name = "w", .tensor = weight}});
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
        sync->update({.number = step + 1, .learning_rate = kAxisRate});
      }
      sync->model().join();
      sync->model().settle();
      const int applied = std::string(kind) == "delayed" ? 1 : 2;
      EXPECT_EQ(weight[0].item<double>(), -kAxisRate * applied * 3 * (tensor == 0 ? 1 : 10));
    });
  }
}

// The stages of a pipeline have 2 and 3 parameters. The second stage uses its first one only, and
// weight decay would change the others if the flags of the first stage counted for them.
TEST(TwoAxes, AParameterThatNoRankUsesKeepsItsValueWhateverOtherStagesUse) {
  for (const char* kind : {"all_reduce", "zero1"}) {
    SCOPED_TRACE(kind);
    mesh::run_mesh_threads([&](const mesh::Mesh& mesh) {
      const int data = mesh.place("data"), stage = mesh.place("tensor");
      std::vector<Parameter> own;
      for (int i = 0; i < 2 + stage; ++i) {
        own.push_back({.name = "w" + std::to_string(i),
                       .tensor = torch::ones({2}, torch::kDouble).requires_grad_(),
                       .weight_decay = 0.5});
      }
      const auto sync = make_gradient_sync(
          {.parameters = own,
           .optimizer = std::make_shared<optim::Sgd>(optim::SgdConfig{.momentum = 0}),
           .group = mesh.group("data"),
           .replica_group = mesh.group("tensor"),
           .commit_group = mesh.all(),
           .flags = {.begin = stage == 0 ? 0U : 2U, .count = 5},
           .stretches = {{.kind = kind}}});
      for (int step = 0; step < 2; ++step) {
        sync->begin_step(
            {.step = step, .micro_batch_count = 2, .micro_batches = {data}, .owners = {0, 1}});
        sync->begin_micro_batch(0);
        at::Tensor sum = own[0].tensor.sum();
        if (stage == 0) sum = sum + own[1].tensor.sum();
        sum.backward();
        sync->end_micro_batch();
        sync->finish_reduction();
        sync->commit().prepare({});
        sync->update({.number = step + 1, .learning_rate = kAxisRate});
      }
      sync->model().settle();
      for (std::size_t i = 0; i < own.size(); ++i) {
        const bool is_used = stage == 0 || i == 0;
        EXPECT_EQ(own[i].tensor[0].item<double>() == 1, !is_used) << stage << " " << own[i].name;
      }
      mesh.all().barrier().wait();
    });
  }
}

TEST(TwoAxes, AParameterIsTheShardOfItsPlace) {
  mesh::run_mesh_threads([](const mesh::Mesh& mesh) {
    const torch::nn::Linear half(3, 2);
    Parameter weight = parameters_of(*half, {}, mesh.places("data")).at(0);
    weight.layout = mesh::Layout({{4, 3}}, {{"tensor", 0}});
    EXPECT_EQ(weight.shard(), mesh::Layout({{4, 3}}, {{"tensor", 0}}).shard(mesh.places()));
    EXPECT_EQ(weight.shard().count(), weight.tensor.numel());
  });
}

// Both replicas have the same gradients: 1 to 8 for the weight that is cut, and three times 5.
TEST(TwoAxes, NormAndLossCountOnceHoweverManyRanksHoldThem) {
  const at::Tensor slopes = torch::arange(1, 9, torch::kDouble);
  const double norm = 2 * std::sqrt(slopes.square().sum().item<double>() + 3 * 25);
  for (const char* kind : {"all_reduce", "zero1", "zero2", "hierarchical", "local", "delayed"}) {
    SCOPED_TRACE(kind);
    mesh::run_mesh_threads([&](const mesh::Mesh& mesh) {
      const int data = mesh.place("data"), tensor = mesh.place("tensor");
      const at::Tensor shard = torch::zeros({4}, torch::kDouble).requires_grad_();
      const at::Tensor replicated = torch::zeros({3}, torch::kDouble).requires_grad_();
      const mesh::Layout halves(mesh::View({8}), {{"tensor", 0}});
      const std::vector<mesh::Place> places = mesh.places("data");
      const auto sync =
          sync_on(mesh, kind,
                  {{.name = "shard", .tensor = shard, .layout = halves, .places = places},
                   {.name = "replicated", .tensor = replicated, .places = places}});
      const double mine = tensor == 0 ? 3 : 0;
      CommitResult all;
      for (int step = 0; step < 2; ++step) {
        sync->begin_step({.step = step,
                          .micro_batch_count = 2,
                          .micro_batches = {data},
                          .owners = {0, 1},
                          .is_norm_wanted = true});
        EXPECT_EQ(sync->commit().total(mine), 6);
        sync->begin_micro_batch(0);
        ((shard * slopes.narrow(0, 4 * tensor, 4)).sum() + 5 * replicated.sum()).backward();
        sync->end_micro_batch();
        sync->finish_reduction();
        all = sync->commit().prepare({.loss = mine, .reported = {mine}});
        EXPECT_EQ(all.loss, 6);
        EXPECT_EQ(all.reported[0], 6);
        sync->update({.number = step + 1, .learning_rate = kAxisRate});
      }
      EXPECT_NEAR(all.norm, norm, 1e-12) << "with delayed, of the first step's gradients";
      sync->model().join();
      sync->model().settle();
      mesh.all().barrier().wait();
    });
  }
}

// So that ranks sum their terms before each step.
class UnevenLoss final : public model::Loss {
 public:
  explicit UnevenLoss(std::shared_ptr<const model::Loss> of) : of_(std::move(of)) {}
  at::Tensor sum(const at::Tensor& output, const at::Tensor& target) const override {
    return of_->sum(output, target);
  }
  std::int64_t terms(const at::Tensor& target) const override { return of_->terms(target); }
  bool has_even_terms() const override { return false; }

 private:
  std::shared_ptr<const model::Loss> of_;
};

TEST(TwoAxes, AStepIsThatOfOneRank) {
  constexpr int kSteps = 3;
  at::set_num_threads(1);
  const config::Config config = train::tiny_config("mlp64", {"optim.max_grad_norm=0.1"});
  const train::Job alone = train::open_job(config, train::tiny_kinds());
  std::vector<train::Outcome> expected;
  for (int step = 0; step < kSteps; ++step) expected.push_back(alone.step->run(step));
  for (const char* kind : {"all_reduce", "zero1"}) {
    SCOPED_TRACE(kind);
    mesh::run_mesh_threads([&](const mesh::Mesh& mesh) {
      train::Job job = train::open_job(config, train::tiny_kinds(), mesh.group("data"));
      train::Step::Parts parts = job.step->parts();
      job.step.reset();
      parts.gradient_sync.reset();
      parts.gradient_sync = make_gradient_sync(
          {.parameters = parameters_of(*job.model, treatment_of(config), mesh.places("data")),
           .optimizer = optim::make_optimizer(config),
           .group = mesh.group("data"),
           .replica_group = mesh.group("tensor"),
           .commit_group = mesh.all(),
           .stretches = {{.kind = kind}}});
      parts.loss = std::make_shared<UnevenLoss>(parts.loss);
      parts.has_loss = mesh.place("tensor") == 0;
      train::Step own(std::move(parts));
      for (int step = 0; step < kSteps; ++step) {
        const train::Outcome outcome = own.run(step);
        const train::Outcome& one = expected[static_cast<std::size_t>(step)];
        EXPECT_NEAR(outcome.loss, one.loss, 1e-10) << step;
        EXPECT_NEAR(outcome.norm, one.norm, 1e-10) << step;
        EXPECT_EQ(outcome.samples, one.samples) << step;
      }
      mesh.all().barrier().wait();
    });
  }
}

TEST(TwoAxes, WhatRequiresReplicasOfOneRankIsRefused) {
  mesh::run_mesh_threads([](const mesh::Mesh& mesh) {
    SyncOptions options{.parameters = {{.name = "w", .tensor = torch::zeros({4})}},
                        .optimizer = std::make_shared<optim::Sgd>(optim::SgdConfig{}),
                        .group = mesh.group("data"),
                        .replica_group = mesh.group("tensor"),
                        .commit_group = mesh.all(),
                        .stretches = {{.kind = "hierarchical"}}};
    EXPECT_EQ(testing::code_of([&] { make_gradient_sync(options); }), ErrorCode::Unsupported)
        << "hosts exchange weights";
    options.stretches = {{.kind = "all_reduce"}};
    options.can_leave_out = true;
    EXPECT_EQ(testing::code_of([&] { make_gradient_sync(options); }), ErrorCode::InvalidInput);
  });
}

}  // namespace
}  // namespace trireme::parallel
