// Goal:   local-update methods and delayed gradients update weights as in their papers.
// Method: ranks as threads, each of which minimizes its distance to a different number with SGD;
//         compared with the same in a few lines of arithmetic.

#include "trireme/parallel/local/rounds.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "trireme/codec/zstd/lossless.h"
#include "trireme/comm/connect_threads.h"
#include "trireme/optim/rule/sgd.h"
#include "trireme/parallel/kinds.h"
#include "trireme/parallel/local/delayed.h"
#include "trireme/parallel/local/flat_model.h"
#include "trireme/parallel/local/fragment.h"
#include "trireme/parallel/local/pairing.h"
#include "trireme/parallel/local/round/round_end.h"
#include "trireme/parallel/local/rounds_config.h"
#include "trireme/testing/rank_threads.h"

namespace trireme::parallel::local {
namespace {

constexpr double kRate = 0.1;
constexpr double kFirst = 5;

using Paths = std::vector<std::vector<double>>;  // by rank and step: the weight

// Rank r's mean gradient is w - r.
struct Job {
  std::string kind = "local";
  RoundSettings pace{};
  int ranks = 2;
  int steps = 8;
  codec::CodecConfig codec{};
};

Paths trained(const Job& job) {
  const auto groups = comm::connect_threads(job.ranks, {.timeout = std::chrono::seconds(30)});
  Paths paths(static_cast<std::size_t>(job.ranks));
  testing::run_rank_threads(job.ranks, [&](int rank) {
    const auto r = static_cast<std::size_t>(rank);
    const auto type = job.codec.kind == codec::CodecKind::None ? torch::kDouble : torch::kFloat;
    // All ranks get rank 0's initial values. `unused` makes sure that there is more than one
    // parameter.
    at::Tensor weight = torch::full({3}, kFirst + rank, type).requires_grad_();
    at::Tensor unused = torch::ones({2}, type).requires_grad_();
    const auto gradient_sync = make_gradient_sync(
        {.parameters = {{.name = "w", .tensor = weight}, {.name = "unused", .tensor = unused}},
         .optimizer = std::make_shared<optim::Sgd>(optim::SgdConfig{.momentum = 0}),
         .group = groups[r],
         .stretches = {{.kind = job.kind, .pace = job.pace}},
         .codec = job.codec});
    std::vector<int> owners;
    for (int i = 0; i < job.ranks; ++i) owners.push_back(i);
    for (int step = 0; step < job.steps; ++step) {
      gradient_sync->begin_step({.step = step,
                                 .micro_batch_count = job.ranks,
                                 .micro_batches = {rank},
                                 .owners = owners});
      gradient_sync->begin_micro_batch(0);
      (0.5 * (weight - rank).pow(2) / job.ranks).sum().backward();
      gradient_sync->end_micro_batch();
      gradient_sync->finish_reduction();
      gradient_sync->commit().prepare({.loss = 1.0 / job.ranks});
      gradient_sync->update({.number = step + 1, .learning_rate = kRate});
      paths[r].push_back(weight[1].item<double>());
    }
    gradient_sync->model().join();
    paths[r].push_back(weight[1].item<double>());
    EXPECT_EQ(unused.sum().item<double>(), 2);
    groups[r].barrier().wait();
  });
  return paths;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

void expect_paths(const Paths& found, const std::vector<std::vector<double>>& expected, int steps) {
  for (std::size_t step = 0; step < static_cast<std::size_t>(steps); ++step) {
    for (std::size_t r = 0; r < found.size(); ++r) {
      ASSERT_NEAR(found[r][step], expected[step][r], 1e-12) << "step " << step << ", rank " << r;
    }
  }
}

// Replicas run `pace.steps` steps independently, then an outer step; with rate 1 it is a mean.
std::vector<std::vector<double>> by_hand(const Job& job) {
  std::vector<double> w(static_cast<std::size_t>(job.ranks), kFirst);
  double anchor = kFirst, momentum = 0;
  std::vector<std::vector<double>> path;
  for (int step = 0; step < job.steps; ++step) {
    const bool is_common = step < job.pace.begin;
    const double pull = mean_of(w) - (job.ranks - 1) / 2.0;
    for (std::size_t r = 0; r < w.size(); ++r) {
      w[r] -= kRate * (is_common ? pull : w[r] - static_cast<double>(r));
    }
    if (is_common) anchor = w[0];
    const auto made = step + 1 - job.pace.begin;
    if (made > 0 && made % job.pace.steps == 0) {
      const double moved = anchor - mean_of(w);
      momentum = job.pace.outer_momentum * momentum + moved;
      anchor -= job.pace.outer_lr * (moved + job.pace.outer_momentum * momentum);
      w.assign(w.size(), anchor);
    }
    path.push_back(w);
  }
  return path;
}

TEST(Rounds, LocalStepsAreAveraged) {
  for (const int ranks : {2, 3}) {
    for (const std::int64_t steps : {1, 3}) {
      const Job job{.kind = "local", .pace = {.steps = steps}, .ranks = ranks};
      const Paths found = trained(job);
      expect_paths(found, by_hand(job), job.steps);
      // After join() all replicas are equal, even if the last round was not complete.
      for (const auto& path : found) EXPECT_EQ(path.back(), found[0].back());
    }
  }
}

TEST(Rounds, PostLocalBeginsWithAllReduce) {
  const Job job{.kind = "post_local", .pace = {.steps = 2, .begin = 3}, .ranks = 3};
  expect_paths(trained(job), by_hand(job), job.steps);
}

TEST(Rounds, DilocoRunsAnOuterStepWithNesterovMomentum) {
  const Job job{.kind = "diloco", .pace = {.steps = 2, .outer_lr = 0.7, .outer_momentum = 0.9}};
  const Paths found = trained(job);
  expect_paths(found, by_hand(job), job.steps);
  EXPECT_EQ(found[0].back(), found[1].back());
}

// Rank 0 moves the farthest, from 5 towards 0, by a tenth of the distance per step.
TEST(Rounds, ARankThatHasMovedFarEndsTheRoundForAll) {
  const Job job{
      .kind = "local", .pace = {.steps = 100, .end = {.divergence = 0.13}}, .ranks = 2, .steps = 6};
  std::vector<double> w(2, kFirst);
  double anchor = kFirst;
  std::vector<std::vector<double>> path;
  int rounds = 0;
  for (int step = 0; step < job.steps; ++step) {
    // Measured before the step changes anything, over three such weights and two constant ones.
    const double norm = std::sqrt(3 * anchor * anchor + 2);
    const double farthest = std::sqrt(3.0) * std::max(anchor - w[0], anchor - w[1]) / norm;
    for (std::size_t r = 0; r < 2; ++r) w[r] -= kRate * (w[r] - static_cast<double>(r));
    if (farthest >= 0.13) {
      anchor = mean_of(w);
      w.assign(2, anchor);
      ++rounds;
    }
    path.push_back(w);
  }
  ASSERT_GT(rounds, 0);
  expect_paths(trained(job), path, job.steps);
}

// With two fragments the weight is the first one. A sum lands `overlap` steps after it was sent,
// and what the replica has moved meanwhile is added on top.
TEST(Rounds, FragmentsAreSynchronizedInTurnAndOverlapWithSteps) {
  for (const std::int64_t overlap : {0, 1, 2}) {
    for (const std::int64_t fragments : {1, 2}) {
      const Job job{.kind = "diloco",
                    .pace = {.steps = 4,
                             .outer_lr = 0.7,
                             .outer_momentum = 0.9,
                             .fragments = fragments,
                             .overlap = overlap},
                    .ranks = 3,
                    .steps = 15};
      std::vector<double> w(3, kFirst), sent(3);
      double anchor = kFirst, momentum = 0, moved = 0;
      std::int64_t launched = -1;
      std::vector<std::vector<double>> path;
      for (int step = 0; step < job.steps; ++step) {
        for (std::size_t r = 0; r < 3; ++r) w[r] -= kRate * (w[r] - static_cast<double>(r));
        if ((step + 1) % 4 == (fragments == 2 ? 2 : 0)) {
          launched = step;
          sent = w;
          moved = anchor - mean_of(w);
        }
        if (launched >= 0 && step - launched == overlap) {
          launched = -1;
          momentum = 0.9 * momentum + moved;
          anchor -= 0.7 * (moved + 0.9 * momentum);
          for (std::size_t r = 0; r < 3; ++r) w[r] += anchor - sent[r];
        }
        path.push_back(w);
      }
      const Paths found = trained(job);
      expect_paths(found, path, job.steps);
      for (const auto& one : found) EXPECT_EQ(one.back(), found[0].back()) << "joined";
    }
  }
}

TEST(Rounds, ACodecWithoutLossChangesNothing) {
  if (!codec::zstd::is_available()) GTEST_SKIP() << "NOT TESTED: this build has no zstd";
  Job job{.kind = "diloco", .pace = {.steps = 2, .outer_lr = 0.7, .outer_momentum = 0.9}};
  const auto expected = by_hand(job);
  job.codec = {.kind = codec::CodecKind::Zstd};
  const Paths found = trained(job);
  for (std::size_t step = 0; step < expected.size(); ++step) {
    EXPECT_NEAR(found[1][step], expected[step][1], 1e-5);
  }
  EXPECT_EQ(found[0].back(), found[1].back());
}

// Slack changes which rank waits for which, but no result.
TEST(Rounds, SlackChangesNoWeight) {
  for (const char* kind : {"local", "diloco", "gossip"}) {
    Job job{.kind = kind, .pace = {.steps = 3}, .ranks = 3};
    const Paths expected = trained(job);
    job.pace.slack = 2;
    EXPECT_EQ(trained(job), expected);
  }
}

// The mean of a pair lands `overlap` steps later; what each rank has moved meanwhile is added on
// top.
TEST(Rounds, GossipOverlapsWithSteps) {
  for (const int ranks : {2, 3}) {
    const Job job{.kind = "gossip", .pace = {.steps = 2, .overlap = 1, .slack = 1}, .ranks = ranks};
    const auto count = static_cast<std::size_t>(ranks);
    std::vector<double> w(count, kFirst), sent, mean;
    std::vector<std::vector<double>> path;
    for (int step = 0; step < job.steps; ++step) {
      for (std::size_t r = 0; r < count; ++r) w[r] -= kRate * (w[r] - static_cast<double>(r));
      for (std::size_t r = 0; r < count && !sent.empty(); ++r) w[r] += mean[r] - sent[r];
      sent.clear();
      if (step % 2 == 1) {
        const std::vector<int> partners = partners_of(ranks, {.seed = 0, .number = step});
        mean = sent = w;
        for (std::size_t r = 0; r < count; ++r) {
          mean[r] = (w[r] + w[static_cast<std::size_t>(partners[r])]) / 2;
        }
      }
      path.push_back(w);
    }
    const Paths found = trained(job);
    expect_paths(found, path, job.steps);
    for (const auto& one : found) EXPECT_EQ(one.back(), found[0].back()) << "joined";
  }
}

TEST(Rounds, GossipAveragesTheSamePairsOnAllRanks) {
  for (const int ranks : {2, 3, 4}) {
    const Job job{.kind = "gossip", .pace = {.steps = 1}, .ranks = ranks};
    std::vector<double> w(static_cast<std::size_t>(ranks), kFirst);
    std::vector<std::vector<double>> path;
    for (int step = 0; step < job.steps; ++step) {
      for (std::size_t r = 0; r < w.size(); ++r) w[r] -= kRate * (w[r] - static_cast<double>(r));
      const std::vector<int> partners = partners_of(ranks, {.seed = 0, .number = step});
      const std::vector<double> before = w;
      for (std::size_t r = 0; r < w.size(); ++r) {
        w[r] = (before[r] + before[static_cast<std::size_t>(partners[r])]) / 2;
      }
      path.push_back(w);
    }
    const Paths found = trained(job);
    expect_paths(found, path, job.steps);
    for (const auto& one : found) EXPECT_EQ(one.back(), found[0].back());
  }
}

TEST(GossipPairs, EveryRankIsThePartnerOfItsPartner) {
  for (int ranks = 1; ranks <= 7; ++ranks) {
    std::vector<int> met(static_cast<std::size_t>(ranks));
    for (std::int64_t round = 0; round < 50; ++round) {
      const std::vector<int> partners = partners_of(ranks, {.seed = 3, .number = round});
      int alone = 0;
      for (int r = 0; r < ranks; ++r) {
        const int other = partners[static_cast<std::size_t>(r)];
        EXPECT_EQ(partners[static_cast<std::size_t>(other)], r);
        alone += other == r ? 1 : 0;
        if (r == 0) ++met[static_cast<std::size_t>(other)];
      }
      EXPECT_EQ(alone, ranks % 2);
    }
    // Rank 0 is paired with every other rank at some time.
    for (int r = 1; r < ranks; ++r) EXPECT_GT(met[static_cast<std::size_t>(r)], 0) << ranks;
  }
}

// The gradient of step t is applied in step t + 1.
TEST(Delayed, GradientsAreAppliedOneStepLate) {
  for (const int ranks : {2, 3}) {
    const Job job{.kind = "delayed", .ranks = ranks};
    double w = kFirst, late = 0;
    std::vector<std::vector<double>> path;
    for (int step = 0; step < job.steps; ++step) {
      const double now = w - (ranks - 1) / 2.0;
      if (step > 0) w -= kRate * late;
      late = now;
      path.emplace_back(static_cast<std::size_t>(ranks), w);
    }
    expect_paths(trained(job), path, job.steps);
  }
}

}  // namespace
}  // namespace trireme::parallel::local
