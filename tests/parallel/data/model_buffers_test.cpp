// Goal:   every step begins with rank 0's buffers, and passes whose gradients do not count leave no
//         trace in them.
// Method: two ranks as threads whose "forward pass" adds to a buffer; one buffer by itself.

#include "trireme/parallel/data/model_buffers.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "trireme/comm/connect_threads.h"
#include "trireme/testing/rank_threads.h"

namespace trireme::parallel::data {
namespace {

TEST(ModelBuffers, OfRepeatedStepsCountOnlyPassesThatAreKept) {
  const auto groups = comm::connect_threads(2, {.timeout = std::chrono::seconds(30)});
  testing::run_rank_threads(2, [&](int rank) {
    const c10::NoGradGuard no_grad;
    const comm::Group& group = groups[static_cast<std::size_t>(rank)];
    const at::Tensor mean = torch::full({1}, rank + 10.0);
    ModelBuffers buffers({mean}, {.can_undo = true, .can_repeat = true});
    buffers.open();
    buffers.begin_step(group, false);
    EXPECT_EQ(mean.item<double>(), 10) << "rank 0's";
    mean.add_(1);
    buffers.end_micro_batch();
    mean.add_(1);  // a pass that a death interrupts
    buffers.reopen(/*has_finished=*/true);
    EXPECT_EQ(mean.item<double>(), 11);
    buffers.begin_step(group, true);
    EXPECT_EQ(mean.item<double>(), 11) << "finished passes stay on the rank that ran them";
    buffers.reopen(/*has_finished=*/false);
    EXPECT_EQ(mean.item<double>(), 10);
    mean.add_(5);
    buffers.undo();
    EXPECT_EQ(mean.item<double>(), 10);
    mean.add_(rank);
    buffers.broadcast(group);
    EXPECT_EQ(mean.item<double>(), 10);
    group.barrier().wait();
  });
}

TEST(ModelBuffers, ReturnToTheValuesThatWereKept) {
  const at::Tensor buffer = torch::ones({2});
  ModelBuffers buffers({buffer}, {});
  buffers.undo();
  EXPECT_EQ(buffer.sum().item<float>(), 2) << "nothing was kept";
  buffers.keep();
  buffer.fill_(7);
  buffers.undo();
  EXPECT_EQ(buffer.sum().item<float>(), 2);
}

}  // namespace
}  // namespace trireme::parallel::data
