// Goal:   a step excludes late ranks and becomes a step of the other ranks' samples; the next step
//         runs the excluded samples, so that every sample of an epoch counts once.
// Method: a model with one weight per sample, whose gradient shows which samples counted. In each
//         step another rank begins only when the others are done.

#include <algorithm>
#include <atomic>
#include <thread>

#include "tests/train/more_words.h"
#include "tests/train/trainer_fixture.h"
#include "trireme/data/order/returned.h"
#include "trireme/model/wrap.h"
#include "trireme/testing/code_of.h"

namespace trireme::train {
namespace {

constexpr int kDropRanks = 3;

// Rank 0 comes first, because all ranks use its statistics.
constexpr int late_in(int step) {
  return (step + kDropRanks - 1) % kDropRanks;
}

// Sample i is its own number, and its target is 1.
class NumberSource final : public data::Source {
 public:
  explicit NumberSource(std::int64_t count) : count_(count) {
    form_.input_sizes = {1};
    form_.target_type = at::kFloat;
  }
  std::int64_t count() const override { return count_; }
  const data::Form& form() const override { return form_; }
  void read(std::int64_t sample, const data::SampleKey&, void* input, void* target) const override {
    *static_cast<float*>(input) = static_cast<float>(sample);
    *static_cast<float*>(target) = 1;
  }

 private:
  std::int64_t count_;
  data::Form form_;
};

struct WeightOfEach : torch::nn::Module {
  explicit WeightOfEach(std::int64_t count) {
    weight = register_parameter("weight", torch::zeros({count}));
    passes = register_buffer("passes", torch::zeros({1}));
  }
  at::Tensor weight;
  at::Tensor passes;  // that were made, as batch norm counts them
};

Kinds counting_kinds() {
  Kinds kinds = tiny_kinds();
  kinds.data.add<data::memory::SyntheticConfig>("numbers", "", [](const auto& config) {
    return data::Sets{std::make_shared<NumberSource>(config.count), nullptr};
  });
  kinds.models.add<model::MlpConfig>("counts", "", [](const auto&, const model::Facts&) {
    return model::wrap(std::make_shared<WeightOfEach>(37),
                       [](WeightOfEach& net, const at::Tensor& x, const model::Context&) {
                         net.passes.add_(1);
                         return net.weight.index_select(0, x.view({-1}).to(at::kLong));
                       });
  });
  return kinds;
}

config::Config counting(const Words& more) {
  return config::read_config(
      recipe_schema(counting_kinds()),
      {.files = {{"counting.toml",
                  "[model]\nkind = \"counts\"\n[data]\nkind = \"numbers\"\ncount = 37\n[train]\n"
                  "global_batch_size = 10\nnum_threads = 1\n[optim]\nkind = \"sgd\"\nmomentum = 0\n"
                  "lr = 0.5\nweight_decay = 0\n[sync]\nkind = \"all_reduce\"\n"
                  "[eval]\nmetric = \"loss\"\n"}},
       .overrides = more});
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

Counted count_samples(const Words& more, int steps) {
  at::set_num_threads(1);
  const config::Config config = counting(more);
  const auto groups = comm::connect_threads(kDropRanks, {.timeout = std::chrono::seconds(60)});
  std::vector<Counted> all(kDropRanks);
  Latecomer::done_ = 0;
  testing::run_rank_threads(kDropRanks, [&](int rank) {
    const auto r = static_cast<std::size_t>(rank);
    Latecomer faults;
    Job job = open_job(config, counting_kinds(), groups[r], {.faults = &faults});
    job.model->parameters()[0].detach().zero_();
    for (int step = 0; step < steps; ++step) {
      groups[r].barrier().wait();
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
    groups[r].barrier().wait();
  });
  for (const Counted& other : all) {
    EXPECT_TRUE(other.weights.equal(all[0].weights));
    EXPECT_EQ(other.left_out, all[0].left_out);
    EXPECT_EQ(other.samples, all[0].samples);
  }
  return all[0];
}

// 37 samples: four steps an epoch.
void expect_each_counts_once(Words words) {
  words.push_back("balance.drop_stragglers=1");
  const Counted found = count_samples(words, 4);
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
  for (const char* kind : {"shared", "zero1", "zero3", "local", "delayed", "none"}) {
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
