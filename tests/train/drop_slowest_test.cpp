// Goal:   a step excludes late ranks and becomes a step of the other ranks' samples; the next step
//         runs the excluded samples, so that every sample of an epoch counts once.
// Method: a model with one weight per sample, whose gradient shows which samples counted. In each
//         step another rank begins only when the others are done.

#include <algorithm>
#include <atomic>
#include <thread>

#include "tests/comm/tcp_ranks.h"
#include "tests/train/counted_samples.h"
#include "tests/train/trainer_fixture.h"
#include "trireme/data/order/returned.h"
#include "trireme/testing/code_of.h"

namespace trireme::train {
namespace {

constexpr int kDropRanks = 3;

// Rank 0 comes first, because all ranks use its statistics.
constexpr int late_in(int step) {
  return (step + kDropRanks - 1) % kDropRanks;
}

// Holds the late rank of a step back until the others have nothing left to do in it.
class Latecomer final : public Faults {
 public:
  void reached(FaultPoint point, int) override {
    if (point == kReduce) ++done_;
    if (point != kForward || is_late_ == false) return;
    is_late_ = false;
    while (done_ < target_) std::this_thread::yield();
    // Their words are on the way.
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  void expect(bool is_late, int target) {
    is_late_ = is_late;
    target_ = target;
  }
  static inline std::atomic<int> done_{0};

 private:
  bool is_late_ = false;
  int target_ = 0;
};

struct Counted {
  at::Tensor weights;
  std::vector<std::vector<int>> left_out;  // by step
  std::vector<std::int64_t> samples;       // by step
  std::vector<data::Returned> returned;
  double passes = 0;  // of rank 0, that count
};

// `is_apart`: ranks do not share memory.
Counted count_samples(const Words& more, int steps, bool is_apart = false) {
  at::set_num_threads(1);
  const config::Config config = counting(more);
  std::vector<Counted> all(kDropRanks);
  Latecomer::done_ = 0;
  const auto train = [&](const comm::Group& group) {
    const int rank = group.rank();
    const auto r = static_cast<std::size_t>(rank);
    Latecomer faults;
    Job job = open_job(config, counting_kinds(), group, {.faults = &faults});
    job.model->parameters()[0].detach().zero_();
    for (int step = 0; step < steps; ++step) {
      group.barrier().wait();
      // The first step's layout is agreed on before anybody is at its end.
      faults.expect(step > 0 && late_in(step) == rank, step * kDropRanks + kDropRanks - 1);
      const Outcome outcome =
          job.step->run({.step = step, .updates = step, .can_leave_out = step + 1 < steps});
      all[r].left_out.push_back(outcome.left_out);
      all[r].samples.push_back(outcome.samples);
    }
    job.gradient_sync().model().settle();
    job.gradient_sync().model().check();
    all[r].weights = job.model->parameters()[0].detach().clone();
    all[r].returned = job.step->work().returned();
    all[r].passes = job.model->buffers()[0].item<double>();
    group.barrier().wait();
  };
  if (is_apart) {
    comm::run_tcp_ranks({.count = kDropRanks}, train);
  } else {
    const auto groups = comm::connect_threads(kDropRanks, {.timeout = std::chrono::seconds(60)});
    testing::run_rank_threads(kDropRanks,
                              [&](int rank) { train(groups[static_cast<std::size_t>(rank)]); });
  }
  for (const Counted& other : all) {
    EXPECT_TRUE(other.weights.equal(all[0].weights));
    EXPECT_EQ(other.left_out, all[0].left_out);
    EXPECT_EQ(other.samples, all[0].samples);
  }
  return all[0];
}

// 37 samples: four steps an epoch.
void expect_each_counts_once(Words words, bool is_apart = false) {
  words.push_back("balance.drop_stragglers=1");
  const Counted found = count_samples(words, 4, is_apart);
  std::int64_t used = 0;
  std::size_t dropped = 0;
  for (std::size_t step = 0; step < 4; ++step) {
    used += found.samples[step];
    dropped += found.left_out[step].size();
    EXPECT_LE(found.left_out[step].size(), 1u);
    for (const int rank : found.left_out[step]) EXPECT_EQ(rank, late_in(static_cast<int>(step)));
  }
  EXPECT_GT(dropped, 0u) << "no rank was late";
  EXPECT_EQ(found.left_out[0].size(), 0u) << "the first step lays everything out";
  EXPECT_EQ(found.left_out[3].size(), 0u) << "an epoch's last step waits for all";
  EXPECT_EQ(used, 37);
  // One a step: returned samples come with others. None of a step that it was left out of.
  double passes = 4;
  for (const auto& left_out : found.left_out) passes -= std::ranges::count(left_out, 0);
  EXPECT_EQ(found.passes, passes);
  EXPECT_TRUE(found.returned.empty());
  // Every sample has moved its own weight exactly once. The gradient of the squared error
  // between prediction 0 and target 1 is 2, and the learning rate is 0.5.
  for (std::int64_t i = 0; i < 37; ++i) {
    const double moved = found.weights[i].item<double>();
    double nearest = 1;
    for (const std::int64_t samples : found.samples) {
      nearest = std::min(nearest, std::abs(moved - 1.0 / static_cast<double>(samples)));
    }
    EXPECT_LT(nearest, 1e-6) << "sample " << i << " moved by " << moved;
  }
}

TEST(DropSlowest, EverySampleOfAnEpochCountsOnce) {
  expect_each_counts_once({});
}

TEST(DropSlowest, EverySampleOfAnEpochCountsOnceWhereRanksUpdateShards) {
  for (const std::string kind : {"shared", "zero1", "zero2"}) {
    for (const bool is_apart : {false, true}) {
      if (kind == "shared" && is_apart) continue;
      SCOPED_TRACE(kind + (is_apart ? " apart" : ""));
      expect_each_counts_once({"sync.kind=" + kind}, is_apart);
    }
  }
}

TEST(DropSlowest, EverySampleOfAnEpochCountsOnceWhereKindsChange) {
  expect_each_counts_once({"sync.schedule=[\"100=all_reduce\"]"});
}

TEST(DropSlowest, WithoutLatecomersIsAllReduce) {
  const Counted plain = count_samples({}, 4);
  for (const auto& left_out : plain.left_out) EXPECT_TRUE(left_out.empty());
  for (std::int64_t i = 0; i < 37; ++i) EXPECT_GT(plain.weights[i].item<double>(), 0);
}

TEST(DropSlowestRefusals, NameARemedy) {
  const auto refused = [](const Words& words) {
    return testing::code_of([&] { train_threads(tiny_config("mlp", words), 2, 1); });
  };
  for (const char* kind : {"zero3", "local", "delayed", "none"}) {
    EXPECT_EQ(refused({"balance.drop_stragglers=1", "sync.kind=" + std::string(kind)}),
              ErrorCode::InvalidInput)
        << kind;
  }
  EXPECT_EQ(refused({"balance.drop_stragglers=1", "train.logical_ranks=4"}),
            ErrorCode::InvalidInput);
  EXPECT_EQ(refused({"balance.drop_stragglers=2"}), ErrorCode::InvalidInput);
}

TEST(Returned, IsCutIntoPartsThatAreTheWhole) {
  const data::Returned whole{.epoch = 2, .samples = {.begin = 10, .end = 17}};
  std::int64_t next = 10;
  for (std::int64_t i = 0; i < 3; ++i) {
    const data::Returned part = data::part_of(whole, i, 3);
    EXPECT_EQ(part.epoch, 2);
    EXPECT_EQ(part.samples.begin, next);
    next = part.samples.end;
  }
  EXPECT_EQ(next, 17);
}

}  // namespace
}  // namespace trireme::train
