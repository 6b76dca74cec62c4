// Goal:   the sum of the last step's gradients becomes the parameters' gradients one step later; a
//         sum that was in flight when a rank was lost is that of the live ranks, weighted for the
//         whole batch.
// Method: two ranks as threads, whose gradients are numbers; the rest by hand.

#include "trireme/parallel/local/late_gradients.h"

#include "tests/parallel/local/round/one_weight.h"

namespace trireme::parallel::local {
namespace {

constexpr double kOwn = 3;

struct OneGradient {
  explicit OneGradient(const comm::Group& group)
      : weight(torch::zeros({2}).requires_grad_()),
        late(
            {.parameters = {{.name = "w", .tensor = weight}}, .group = group, .is_elastic = true}) {
  }

  void run(std::int64_t step, double gradient) {
    weight.mutable_grad() = torch::full({2}, gradient);
    late.replace({.step = step, .micro_batch_count = 2, .micro_batches = {0}}, {true});
  }

  at::Tensor weight;
  LateGradients late;
};

TEST(LateGradients, AreAppliedOneStepLater) {
  on_ranks(2, [](const comm::Group& group) {
    OneGradient one(group);
    one.run(0, kOwn + group.rank());
    EXPECT_FALSE(one.late.give()) << "the first step has no earlier one";
    one.late.land();
    EXPECT_EQ(one.late.squared_norm(), 2 * (2 * kOwn + 1) * (2 * kOwn + 1)) << "two elements";
    one.run(1, 0);
    ASSERT_TRUE(one.late.give());
    EXPECT_EQ(one.weight.grad()[1].item<double>(), 2 * kOwn + 1);
    one.late.land();
  });
}

TEST(LateGradients, ThoseInFlightAreSummedWithoutALostRank) {
  on_ranks(2, [](const comm::Group& group) {
    const comm::Group alone = comm::Group::solo();
    OneGradient one(group);
    one.late.pause();
    one.run(0, kOwn);
    one.late.regroup(alone);
    one.late.complete(alone, StateReports::exchange(alone, true, one.late.report()));
    EXPECT_EQ(one.late.squared_norm(), 2 * 2 * kOwn * 2 * kOwn)
        << "one of two micro-batches is lost";
    one.late.resume();
    EXPECT_TRUE(one.late.is_there());
  });
}

}  // namespace
}  // namespace trireme::parallel::local
