// Goal:   a stage receives what the stage before it sent while the sender computes, however large
//         it is; types that collectives do not know arrive; and a pass may take longer than the
//         timeout, which limits waiting only.
// Method: ranks as threads. "Computes" is a sender that makes no call until the other rank has
//         received, or has slept for several times the timeout.

#include "trireme/parallel/pipeline/stage_exchange.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <future>
#include <thread>

#include "trireme/base/error.h"
#include "trireme/comm/connect_threads.h"
#include "trireme/testing/code_of.h"
#include "trireme/testing/rank_threads.h"

namespace trireme::parallel::pipeline {
namespace {

constexpr Boundary kFirst{.stage = 0, .micro_batch = 0};
const StagePlacement kTwoRanks({0, 1});

// Larger than every buffer of a message.
model::Activations large_activations() {
  model::Activations out(torch::arange(1 << 19, torch::kFloat));
  out.set("mask", torch::arange(7).remainder(2) == 0);
  return out;
}

TEST(StageExchange, ALargeTensorArrivesWhileItsSenderComputes) {
  const auto groups = comm::connect_threads(2);
  std::promise<void> received;
  testing::run_rank_threads(2, [&](int rank) {
    StageExchange exchange(groups[static_cast<std::size_t>(rank)], kTwoRanks);
    const model::Activations out = large_activations();
    if (rank == 0) {
      exchange.send_activations(kFirst, "shape", out);
      const auto state = received.get_future().wait_for(std::chrono::seconds(30));
      EXPECT_EQ(state, std::future_status::ready) << "the other rank waits for its sender";
    } else {
      const model::Activations in = exchange.take_activations(kFirst, "shape");
      received.set_value();
      EXPECT_TRUE(in.main.equal(out.main));
      EXPECT_TRUE(in.get("mask").equal(out.get("mask")));
    }
    exchange.finish();
  });
}

TEST(StageExchange, OnlyWaitingHasADeadline) {
  constexpr auto kTimeout = std::chrono::milliseconds(300);
  const auto groups = comm::connect_threads(2, {.timeout = kTimeout});
  std::promise<void> received;
  testing::run_rank_threads(2, [&](int rank) {
    StageExchange exchange(groups[static_cast<std::size_t>(rank)], kTwoRanks);
    const model::Activations out = large_activations();
    if (rank == 0) {
      exchange.send_activations(kFirst, "shape", out);
      received.get_future().wait_for(std::chrono::seconds(30));
      exchange.poll();
    } else {
      std::this_thread::sleep_for(3 * kTimeout);
      EXPECT_TRUE(exchange.take_activations(kFirst, "shape").main.equal(out.main));
      received.set_value();
    }
    exchange.finish();
  });
}

TEST(StageExchange, AWaitForASilentRankEndsAtItsDeadline) {
  const auto groups = comm::connect_threads(2, {.timeout = std::chrono::milliseconds(300)});
  testing::run_rank_threads(2, [&](int rank) {
    StageExchange exchange(groups[static_cast<std::size_t>(rank)], kTwoRanks);
    if (rank == 0) return;
    const auto take = [&] { exchange.take_activations(kFirst, "shape"); };
    EXPECT_EQ(testing::code_of(take), ErrorCode::Deadline);
  });
}

}  // namespace
}  // namespace trireme::parallel::pipeline
