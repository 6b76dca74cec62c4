// Goal:   a block waits only for the buckets that it reads, and never reads a value that another
//         rank has yet to update.
// Method: two ranks as threads, one of which holds a bucket back until the other's block has run;
//         and jobs in which one rank updates slowly, compared with jobs without.

#include "trireme/parallel/data/storage/publishing.h"

#include <latch>
#include <thread>

#include "tests/train/tiny_job.h"
#include "trireme/parallel/data/journal/ledger.h"

namespace trireme::parallel::data {
namespace {

TEST(Publishing, BlocksWaitOnlyForTheBucketsTheyRead) {
  const std::vector<comm::Group> groups =
      comm::connect_threads(2, {.timeout = std::chrono::seconds(20)});
  std::latch is_past(1);
  testing::run_rank_threads(2, [&](int rank) {
    const comm::Group& group = groups[static_cast<std::size_t>(rank)];
    Publishing publishing(2, {{1}, {}, {0, 1}});
    publishing.add(1, group.barrier());
    if (rank == 1) is_past.wait();
    publishing.add(0, group.barrier());
    publishing.reach(0, model::PassDirection::Forward);
    publishing.reach(1, model::PassDirection::Forward);
    publishing.reach(2, model::PassDirection::Backward);
    if (rank == 0) is_past.count_down();
    publishing.reach(2, model::PassDirection::Forward);
    EXPECT_GT(publishing.waited(), 0);
    const double waited = publishing.waited();
    publishing.reach(2, model::PassDirection::Forward);
    publishing.finish();
    EXPECT_EQ(publishing.waited(), waited) << "no block waits for a finished bucket again";
  });
}

TEST(Publishing, WithoutBlocksItIsNotAGate) {
  Publishing publishing(3);
  EXPECT_FALSE(publishing.is_gate());
  publishing.reach(0, model::PassDirection::Forward);
  publishing.finish();
  publishing.forget();
}

// Delays every update of its rank.
class Slowness final : public Faults {
 public:
  void reached(FaultPoint point, int) override {
    if (point.name == kUpdating.name) std::this_thread::sleep_for(std::chrono::milliseconds(3));
  }
};

train::Trained train_slowly(const config::Config& config, int slow) {
  const std::vector<comm::Group> groups =
      comm::connect_threads(2, {.timeout = std::chrono::seconds(60)});
  std::vector<train::Trained> all(2);
  testing::run_rank_threads(2, [&](int rank) {
    Slowness slowness;
    train::Job job = open_job(config, train::tiny_kinds(), groups[static_cast<std::size_t>(rank)],
                              {.faults = rank == slow ? &slowness : nullptr});
    train::Trained& mine = all[static_cast<std::size_t>(rank)];
    for (int step = 0; step < 5; ++step) mine.losses.push_back(job.step->run(step).loss);
    job.gradient_sync().model().settle();
    mine.weights = train::weights_of(*job.model);
    job.group.barrier().wait();
  });
  EXPECT_EQ(all[0].losses, all[1].losses);
  return all[0];
}

TEST(Publishing, NoRankReadsValuesThatASlowRankHasNotUpdated) {
  for (const std::string kind : {"shared", "zero1"}) {
    for (const std::string precision : {"fp32", "bf16"}) {
      const config::Config config = train::tiny_config(
          "gpt", {"sync.kind=" + kind, "train.precision=" + precision, "optim.lr=0.1"});
      const train::Trained even = train::train_threads(config, 2, 5);
      for (const int slow : {0, 1}) {
        const train::Trained late = train_slowly(config, slow);
        EXPECT_EQ(late.losses, even.losses) << kind << " " << precision << " " << slow;
        train::expect_same_bits(late, even, kind + " " + precision);
      }
    }
  }
}

}  // namespace
}  // namespace trireme::parallel::data
