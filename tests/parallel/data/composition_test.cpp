// Goal:   every strategy is composed of the parts that its definition names.
// Method: the decisions for each kind, on ranks that share memory and on ranks that do not.

#include "trireme/parallel/data/composition.h"

#include <gtest/gtest.h>

#include "tests/parallel/data/part_parameters.h"
#include "trireme/codec/kinds.h"
#include "trireme/comm/connect_threads.h"
#include "trireme/parallel/data/reduce/gradient_reduction.h"
#include "trireme/testing/rank_threads.h"

namespace trireme::parallel::data {
namespace {

TEST(Composition, StorageFollowsTheKindAndTheMemoryThatRanksShare) {
  const auto groups = comm::connect_threads(1);
  const Placement beside{.all = groups[0], .host = groups[0]};
  const Placement apart;  // a rank without an arena
  EXPECT_EQ(Composition{.sharding = Sharding::None}.storage(beside), StorageKind::Replicated);
  EXPECT_EQ(Composition{.sharding = Sharding::State}.storage(beside), StorageKind::Shared);
  EXPECT_EQ(Composition{.sharding = Sharding::Weights}.storage(beside), StorageKind::Shared);
  EXPECT_EQ(Composition{.sharding = Sharding::State}.storage(apart), StorageKind::Sharded);
  EXPECT_EQ(Composition{.sharding = Sharding::Weights}.storage(apart), StorageKind::Gathered);
}

TEST(Composition, GradientsStayWhereAStepMayBeRunAgain) {
  const Composition fixed{.sharding = Sharding::Gradients};
  EXPECT_TRUE(fixed.is_released());
  EXPECT_FALSE(fixed.keeps_finished());
  const Composition elastic{
      .sharding = Sharding::Gradients, .is_elastic = true, .keeps_gradients = true};
  EXPECT_FALSE(elastic.is_released());
  EXPECT_TRUE(elastic.keeps_finished());
  const Composition replicated{
      .sharding = Sharding::None, .is_elastic = true, .keeps_gradients = true};
  EXPECT_TRUE(replicated.has_own_sums()) << "the sum must not replace the gradients";
  EXPECT_FALSE(Composition{.sharding = Sharding::None}.has_own_sums());
  EXPECT_TRUE((Composition{.sharding = Sharding::None, .is_ordered = true}).keeps_finished());
}

TEST(Composition, HostsHoldAllShardsOnlyIfTheyMayBeLost) {
  EXPECT_TRUE((Composition{.sharding = Sharding::State, .is_elastic = true, .is_spread = true})
                  .is_per_host());
  EXPECT_FALSE((Composition{.sharding = Sharding::State, .is_elastic = true}).is_per_host());
  EXPECT_FALSE((Composition{.sharding = Sharding::None, .is_elastic = true, .is_spread = true})
                   .is_per_host());
}

// Ranks of a host that share the model, or only the memory for what they record.
TEST(Composition, ElasticRanksRecordTheirStepsWhereOthersOfTheHostFindThem) {
  const auto groups = comm::connect_threads(1);
  const Placement beside = Placement::flat(groups[0]);
  for (const Sharding sharding : {Sharding::None, Sharding::State}) {
    const bool is_sharded = sharding == Sharding::State;
    EXPECT_FALSE(Composition{.sharding = sharding}.has_ledger(beside));
    EXPECT_TRUE((Composition{.sharding = sharding, .is_elastic = true}.has_ledger(beside)));
    const Composition spread{.sharding = sharding, .is_elastic = true, .is_spread = true};
    EXPECT_EQ(spread.has_ledger(beside), is_sharded);
    EXPECT_FALSE(spread.has_recoverable_residuals());
  }
}

TEST(Composition, PassesEndEarlyUnlessTheirGradientsCanBeKept) {
  EXPECT_FALSE(Composition{}.is_interruptible());
  EXPECT_TRUE(Composition{.is_elastic = true}.is_interruptible());
  EXPECT_FALSE((Composition{.is_ordered = true, .is_elastic = true}.is_interruptible()));
  const Composition dropping{.can_leave_out = true};
  EXPECT_TRUE(dropping.is_interruptible());
  EXPECT_TRUE(dropping.can_undo_passes());
  EXPECT_TRUE(dropping.sends_at_end()) << "what was sent cannot be taken back";
}

// The reduction of every composition gives a rank the sum of the elements that it updates.
TEST(GradientReduction, SumsWithEveryComposition) {
  for (const Composition& composition :
       {Composition{.sharding = Sharding::None}, Composition{.sharding = Sharding::State},
        Composition{.sharding = Sharding::None, .is_ordered = true}}) {
    const Blueprint names = Blueprint::draw({}, 0);
    const auto groups = comm::connect_threads(2, {.timeout = std::chrono::seconds(30)});
    testing::run_rank_threads(2, [&](int rank) {
      const c10::NoGradGuard no_grad;
      const comm::Group& group = groups[static_cast<std::size_t>(rank)];
      const Placement where{.all = group, .host = group};
      std::vector<Parameter> parameters = part_parameters();
      const auto storage =
          Storage::make(composition.storage(where),
                        {.plan = part_plan(parameters), .has_whole_sums = composition.is_ordered},
                        parameters, where, names.storage_names());
      Reducer* reducer = nullptr;
      MicroBatchGradients gradients(
          storage->layout().plan, parameters,
          {.is_ordered = composition.is_ordered,
           .allocate = [](std::int64_t count) { return torch::zeros({count}); },
           .full = [&](std::size_t bucket) { reducer->launch(bucket); }});
      const StepPlan plan{.micro_batch_count = 2, .micro_batches = {rank}, .owners = {0, 1}};
      gradients.begin_step(plan, false, 0);
      StorageLayout& layout = storage->layout();
      if (!layout.reduced.memory.defined()) layout.reduced = {gradients.memory(), false, {}};
      GradientReduction reduction(composition, {});
      reduction.connect(layout, gradients, where);
      EXPECT_EQ(reduction.coded(), nullptr);
      reducer = reduction.reducer();
      reducer->begin_step(plan);
      gradients.begin(0);
      for (std::size_t i = 0; i < parameters.size(); ++i) {
        parameters[i].tensor.mutable_grad() = torch::full_like(parameters[i].tensor, rank + 1);
        gradients.take(i);
      }
      gradients.end();
      reducer->finish();
      const ElementRange first = common(layout.plan.range_of[0], layout.own[0]);
      if (first.count() > 0) {
        EXPECT_TRUE(layout.reduced.at(0, first).eq(3).all().item<bool>());
      }
      group.barrier().wait();
    });
  }
}

// With one host left, no level uses the codec, but every step is still committed to it. Residuals
// of an attempt that a death interrupted must not count.
TEST(GradientReduction, ResidualsOfAnInterruptedStepDoNotCountWhileOneHostIsLeft) {
  const c10::NoGradGuard no_grad;
  const auto groups = comm::connect_threads(1);
  const Placement where = Placement::of_epoch(groups[0], {0}, /*is_per_host=*/true);
  const Composition composition{.sharding = Sharding::State, .is_elastic = true, .is_spread = true};
  std::vector<Parameter> parameters = part_parameters();
  const Blueprint names = Blueprint::draw({}, 0);
  const auto storage = Storage::make(composition.storage(where), {.plan = part_plan(parameters)},
                                     parameters, where, names.storage_names());
  MicroBatchGradients gradients(
      storage->layout().plan, parameters,
      {.allocate = [](std::int64_t count) { return torch::zeros({count}); }, .full = {}});
  GradientReduction reduction(composition,
                              {.codec = codec::make_codec({.kind = codec::CodecKind::Sign})});
  reduction.lay_out(storage->layout(), where, names, parameters);
  reduction.coded()->regroup({.all = groups[0], .host = where.host, .place = 0});
  reduction.connect(storage->layout(), gradients, where);
  const StepPlan plan{.step = 3};
  reduction.begin_step(plan);
  const at::Tensor values =
      torch::arange(storage->layout().plan.buckets[0].range.count(), at::kFloat);
  reduction.coded()->launch(0, values, values);
  reduction.coded()->is_done(0);
  reduction.coded()->forget();
  reduction.begin_step(plan);
  reduction.coded()->commit();
  ASSERT_NE(reduction.coded()->feedback(), nullptr);
  for (const checkpoint::Piece& piece : reduction.coded()->feedback()->pieces()) {
    EXPECT_EQ(piece.data.abs().sum().item<float>(), 0) << piece.name;
  }
}

}  // namespace
}  // namespace trireme::parallel::data
