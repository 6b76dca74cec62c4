// Goal:   ranks with unequal shares of every step reach the weights of one rank; stragglers get
//         less work and are reported; shares are those of data-parallel replicas.
// Method: whole jobs of threads, of which one sleeps before each step. In float64 they must agree
//         with one rank within 1e-10; with logical ranks bit for bit. A mesh of two replicas of two
//         ranks, whose paces are made up.

#include "trireme/train/balance/balancer.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <future>
#include <thread>

#include "tests/comm/host_threads.h"
#include "tests/mesh/mesh_threads.h"
#include "tests/train/trainer_fixture.h"

namespace trireme::train {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

class BalancerTest : public TrainerTest {
 protected:
  BalancerTest() { is_reported_ = true; }

  struct Balanced {
    Weights weights;
    std::int64_t last_own = 0;  // samples of the last step on the rank that sleeps
  };

  // The last rank sleeps: for a while, and longer where rank 0 needs longer, so that it is slower
  // on a busy machine, too. Four ranks are on two hosts.
  Balanced train(const std::string& folder, const std::string& model, Words words, int ranks,
                 std::chrono::milliseconds nap = 10ms) {
    at::set_num_threads(1);
    words.insert(words.end(), {"train.steps=24", "balance.every=4"});
    const config::Config config = tiny_config(model, words);
    std::vector<comm::Group> groups{comm::Group::solo()};
    if (ranks > 1) groups = comm::connect_threads(ranks);
    if (ranks == 4) groups = comm::connect_hosts({0, 0, 1, 1});
    Balanced result;
    std::atomic<double> longest{0};  // step of rank 0, in seconds, without waiting for others
    testing::run_rank_threads(ranks, [&](int rank) {
      const bool is_slow = ranks > 1 && rank == ranks - 1;
      Job job = open_job(config, tiny_kinds(), groups[static_cast<std::size_t>(rank)]);
      Reporter reporter(rank == 0 ? reporting(folder) : Reporter::Options{});
      std::int64_t own = 0;
      Trainer trainer(
          job, {.reporter = &reporter,
                .before_step =
                    [&](auto) {
                      const double more = std::min(4 * longest.load(), 0.5);
                      if (is_slow) {
                        std::this_thread::sleep_for(nap + std::chrono::duration<double>(more));
                      }
                    },
                .after_step =
                    [&](const auto&, const Outcome& o) {
                      own = o.own_samples;
                      const double busy = o.times.total() - o.times.wait;
                      if (rank == 0) longest = std::max(longest.load(), busy);
                    }});
      trainer.run();
      if (rank == 0) result.weights = weights_of(*job.model);
      if (is_slow) result.last_own = own;
      job.group.barrier().wait();
    });
    return result;
  }
};

TEST_F(BalancerTest, UnequalSharesGiveTheSameWeights) {
  const Weights one = train("one", "mlp64", {}, 1).weights;
  for (const char* kind : {"all_reduce", "shared", "zero1", "zero3"}) {
    const std::string how = std::string("sync.kind=") + kind;
    for (const Words& words :
         {Words{how, "balance.kind=static", "balance.weights=[3, 1, 0.1]"},
          Words{how, "balance.kind=proportional"},
          Words{how, "balance.kind=least_loaded", "train.grad_accum_steps=2"}}) {
      EXPECT_LT(distance(train("many", "mlp64", words, 3, 1ms).weights, one), 1e-10)
          << kind << ", " << words[1];
    }
  }
}

// Ranks that commit every step together have no replicas, whatever else their strategy can do.
TEST_F(BalancerTest, HierarchicalRanksWithTheSameWeightsAreBalanced) {
  const Words words{"sync.kind=hierarchical", "balance.kind=static"};
  const auto with = [&](const char* weights, const char* across) {
    Words all = words;
    all.insert(all.end(),
               {std::string("balance.weights=") + weights, std::string("sync.across=") + across});
    return all;
  };
  const Weights one = train("one", "mlp64", {}, 1).weights;
  for (const char* across : {"weights", "gradients"}) {
    EXPECT_LT(distance(train("host", "mlp64", with("[3, 1]", across), 2, 1ms).weights, one), 1e-10);
  }
  const Words hosts = with("[3, 1, 1, 0.1]", "gradients");
  EXPECT_LT(distance(train("hosts", "mlp64", hosts, 4, 1ms).weights, one), 1e-10);
  EXPECT_THROW(train("apart", "mlp64", with("[3, 1, 1, 0.1]", "weights"), 4), Error);
}

TEST_F(BalancerTest, StragglersGetLessWorkAndAreReported) {
  const Balanced fair = train("fair", "mlp", {}, 2);
  EXPECT_GE(fair.last_own, 3) << "half of 7 samples";
  EXPECT_THAT(said("fair", "events.jsonl"), HasSubstr("slow rank"));
  EXPECT_THAT(said("fair", "screen"), HasSubstr("balance.kind=proportional"));
  const Balanced balanced = train("balanced", "mlp", {"balance.kind=proportional"}, 2);
  EXPECT_LE(balanced.last_own, 1);
  EXPECT_THAT(said("balanced", "events.jsonl"), HasSubstr("balanced"));
}

// Work cannot be moved between replicas, but users should know for which rank all others wait.
TEST_F(BalancerTest, StragglersAreReportedWithLocalUpdateMethods) {
  for (const std::string kind : {"local", "diloco", "gossip", "none"}) {
    Words words{"sync.kind=" + kind};
    if (kind != "none") words.emplace_back("sync.steps=3");
    const Balanced found = train(kind, "mlp", words, 2, 30ms);
    EXPECT_GE(found.last_own, 3) << "half of 7 samples";
    EXPECT_THAT(said(kind, "events.jsonl"), HasSubstr("slow rank")) << kind;
    EXPECT_THAT(said(kind, "screen"), Not(HasSubstr("balance.kind=proportional")));
  }
}

// A comparison would make them wait.
TEST_F(BalancerTest, RanksThatMayRunAheadAreNotCompared) {
  train("ahead", "mlp", {"sync.kind=gossip", "sync.slack=2"}, 2);
  EXPECT_THAT(said("ahead", "events.jsonl"), Not(HasSubstr("slow rank")));
}

TEST_F(BalancerTest, StragglersOfAnElasticJobAreReportedByWorkerNumber) {
  const config::Config config = tiny_config("mlp", {"balance.every=1"});
  const std::vector<comm::Group> groups = comm::connect_threads(2);
  std::array<std::promise<double>, Stragglers::kLooks> took;  // by rank 0, in each step
  testing::run_rank_threads(2, [&](int rank) {
    Job job = open_job(config, tiny_kinds(), groups[static_cast<std::size_t>(rank)]);
    Reporter reporter(rank == 0 ? reporting("named") : Reporter::Options{});
    job.is_elastic = true;
    job.workers = {3, 8};
    Balancer balancer(job, reporter);
    for (std::int64_t step = 1; step <= Stragglers::kLooks; ++step) {
      Stopwatch watch;
      balancer.begin_step();
      std::promise<double>& fast = took[static_cast<std::size_t>(step - 1)];
      if (rank == 1) {
        std::this_thread::sleep_for(10ms +
                                    std::chrono::duration<double>(4 * fast.get_future().get()));
      }
      balancer.end_step({.own_samples = 1});
      if (rank == 0) fast.set_value(watch.lap());
      balancer.look(step);
    }
    job.group.barrier().wait();
  });
  EXPECT_THAT(said("named", "screen"), HasSubstr("worker 8 (process "));
  EXPECT_THAT(said("named", "screen"), Not(HasSubstr("rank 1")));
  EXPECT_THAT(said("named", "events.jsonl"), HasSubstr("\"worker\":8"));
}

TEST_F(BalancerTest, WholeMicroBatchesMoveAndResultsStayBitwiseEqual) {
  const Words words{"train.logical_ranks=8", "balance.kind=proportional"};
  const Weights one = train("one", "mlp", words, 1).weights;
  const Balanced two = train("two", "mlp", words, 2);
  EXPECT_LE(two.last_own, 2) << "one micro-batch of eight";
  for (const auto& [name, value] : one) EXPECT_TRUE(two.weights.at(name).equal(value)) << name;
}

// The sizes of micro-batches after one comparison, in which the last rank has worked longest.
std::vector<std::int64_t> sizes_for_replicas(const mesh::Mesh& mesh, const Words& words) {
  Job job = open_job(tiny_config("mlp", words), tiny_kinds(), mesh.group(kDataAxis));
  job.group = mesh.all();
  job.mesh = mesh;
  Reporter reporter(Reporter::Options{});
  Balancer balancer(job, reporter);
  balancer.begin_step();
  const bool is_slow = mesh.all().rank() == mesh::kMeshRanks - 1;
  balancer.end_step({.own_samples = 5, .times = {.wait = is_slow ? -1000.0 : -1.0}});
  balancer.look(1);
  EXPECT_EQ(job.step->parts().micro_batch_owners, (std::vector<int>{0, 1}));
  std::vector<std::int64_t> sizes = job.loader().weights();
  mesh.all().barrier().wait();
  return sizes;
}

TEST_F(BalancerTest, SharesAreThoseOfReplicas) {
  at::set_num_threads(1);
  mesh::run_mesh_threads([](const mesh::Mesh& mesh) {
    const auto fixed = sizes_for_replicas(mesh, {"balance.kind=static", "balance.weights=[3, 1]"});
    ASSERT_EQ(fixed.size(), 2U);
    EXPECT_EQ(fixed[0], 3 * fixed[1]);
    const auto measured =
        sizes_for_replicas(mesh, {"balance.kind=proportional", "balance.every=1"});
    ASSERT_EQ(measured.size(), 2U);
    EXPECT_GT(measured[0], 2 * measured[1]) << "one of two ranks is slow";
  });
}

TEST_F(BalancerTest, WhatDoesNotFitIsRefused) {
  EXPECT_THROW(train("a", "mlp", {"balance.kind=static", "balance.weights=[1]"}, 2), Error);
  EXPECT_THROW(train("b", "mlp", {"balance.kind=proportional", "sync.kind=none"}, 2), Error);
}

}  // namespace
}  // namespace trireme::train
