// Goal:   an update that is interrupted in any run can be finished by another rank, with the bits
//         of an update that was not interrupted; a page records the progress of its rank.
// Method: a fault in each run in turn, arbitrary values in the interrupted run, and a second page
//         over the same memory.

#include "trireme/parallel/data/journal/ledger.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "trireme/base/error.h"
#include "trireme/optim/averaged.h"
#include "trireme/optim/rule/adam.h"
#include "trireme/optim/rule/lamb.h"
#include "trireme/optim/rule/sgd.h"

namespace trireme::parallel::data {
namespace {

struct Cut {};

// Throws just before the n-th run changes.
class CutAt final : public Faults {
 public:
  explicit CutAt(int chunk) : left_(chunk) {}
  void reached(FaultPoint, int) override {
    if (left_-- == 0) throw Cut();
  }

 private:
  int left_;
};

struct Values {
  at::Tensor value, gradient, mean, square;

  static Values make(std::int64_t count) {
    torch::manual_seed(7);
    return {torch::randn({count}), torch::randn({count}), torch::rand({count}),
            torch::rand({count})};
  }
  std::vector<optim::Slice> slices() const {
    const std::int64_t first = value.numel() / 3;
    std::vector<optim::Slice> all;
    for (const auto& [begin, count] :
         {std::pair(std::int64_t{0}, first), std::pair(first, value.numel() - first)}) {
      all.push_back({.value = value.narrow(0, begin, count),
                     .gradient = gradient.narrow(0, begin, count),
                     .state = {mean.narrow(0, begin, count), square.narrow(0, begin, count)},
                     .learning_rate = 0.1,
                     .weight_decay = 0.01});
    }
    return all;
  }
  bool equals(const Values& other) const {
    return value.equal(other.value) && mean.equal(other.mean) && square.equal(other.square);
  }
};

constexpr Ledger::Shape kShape{.figures = 5, .states = 2, .element_size = 4};

// Records the begin and the length of each run.
class Runs final : public optim::Guard {
 public:
  void before(const optim::Slice& slice, std::int64_t begin, std::int64_t count) override {
    const std::int64_t first = slice.value.storage_offset() + begin;
    all.emplace_back(first, count);
  }
  std::vector<std::pair<std::int64_t, std::int64_t>> all;
};

void expect_finished_bitwise(const optim::Optimizer& rule, const Ledger::Shape& shape,
                             std::int64_t count) {
  const Values whole = Values::make(count);
  Runs runs;
  rule.update(whole.slices(), 3, 0.5, &runs);
  for (std::size_t cut = 0; cut <= runs.all.size(); ++cut) {
    const auto arena = comm::Arena::create({.members = 2});
    const Ledger ledger(arena, 77, shape);
    const Values torn = Values::make(count);
    ledger.page(1).begin(4);
    CutAt faults(static_cast<int>(cut));
    bool is_cut = false;
    try {
      ledger.page(1).update(torn.slices(), rule, 3, 0.5, &faults);
    } catch (const Cut&) {
      is_cut = true;
      // The interrupted update may have left any values within its run.
      const auto [begin, length] = runs.all[cut];
      torn.value.narrow(0, begin, length).fill_(-1);
      torn.square.narrow(0, begin, length).fill_(-2);
    }
    EXPECT_EQ(is_cut, cut < runs.all.size());
    if (is_cut) {
      // The same holds for the rank that takes over, if it dies in its first run.
      CutAt again(0);
      EXPECT_THROW(ledger.page(1).update(torn.slices(), rule, 3, 0.5, &again), Cut);
      torn.mean.narrow(0, runs.all[cut].first, runs.all[cut].second).fill_(-3);
      ledger.page(1).update(torn.slices(), rule, 3, 0.5);
    }
    EXPECT_TRUE(torn.equals(whole)) << count << " elements, cut at run " << cut;
  }
}

TEST(Ledger, AnUpdateInterruptedInAnyRunIsFinishedBitwise) {
  for (const std::int64_t count : {0, 1, 3, 255, 768, 771, 2000}) {
    expect_finished_bitwise(optim::Adam{optim::AdamwConfig{}}, kShape, count);
  }
}

// An update rule that wraps another one has longer runs.
TEST(Ledger, AnAverageOfWeightsIsFinishedBitwise) {
  const optim::Averaged rule(std::make_unique<optim::Sgd>(optim::SgdConfig{.momentum = 0.9}),
                             optim::EmaConfig{});
  for (const std::int64_t count : {7, 3 << 15, 100'000}) {
    expect_finished_bitwise(rule, kShape, count);
  }
}

TEST(Ledger, ARuleForWholeShardsNeedsARunOfThatSize) {
  const optim::Lamb rule{optim::LambConfig{}};
  const Values values = Values::make(99);
  std::vector<optim::Slice> slices = values.slices();
  for (optim::Slice& slice : slices) slice.sizes = {slice.value.numel()};
  const auto update = [&](std::int64_t room) {
    Ledger::Shape shape = kShape;
    shape.run_max = room;
    const Ledger ledger(comm::Arena::create({.members = 2}), 78, shape);
    ledger.page(1).update(slices, rule, 3, 0.5);
  };
  EXPECT_NO_THROW(update(66));
  EXPECT_THROW(update(65), Error);
}

// If a rank dies when it begins a step, nothing of the previous step remains to be done.
TEST(Ledger, AFinishedUpdateIsNotRepeated) {
  const optim::Adam adam{optim::AdamwConfig{}};
  const Values values = Values::make(771);
  const Ledger ledger(comm::Arena::create({.members = 2}), 80, kShape);
  Ledger::Page page = ledger.page(0);
  page.begin(4);
  page.prepare(std::vector<double>(5));
  page.update(values.slices(), adam, 3, 0.5);
  const at::Tensor made = values.value.clone();
  ledger.page(0).update(values.slices(), adam, 3, 0.5);
  EXPECT_TRUE(values.value.equal(made));
  page.begin(5);
  page.update(values.slices(), adam, 4, 0.5);
  EXPECT_FALSE(values.value.equal(made));
}

TEST(Ledger, APageRecordsTheProgressOfItsRank) {
  const auto arena = comm::Arena::create({.members = 2});
  const Ledger ledger(arena, 79, kShape);
  Ledger::Page page = ledger.page(0);
  page.begin(9);
  const Ledger::Page seen = ledger.page(0);
  EXPECT_EQ(seen.step(), 9);
  EXPECT_EQ(seen.phase(), Ledger::Phase::Open);
  page.prepare(std::vector<double>{1, 2, 3, 4, 5});
  EXPECT_EQ(seen.phase(), Ledger::Phase::Prepared);
  EXPECT_EQ(seen.figures()[4], 5);
  page.finish();
  EXPECT_EQ(seen.phase(), Ledger::Phase::Finished);
  page.begin(10);
  EXPECT_EQ(seen.step(), 10);
  // The figures of the previous step are still available.
  EXPECT_EQ(seen.figures()[0], 1);
  EXPECT_EQ(ledger.page(1).step(), 0);
}

}  // namespace
}  // namespace trireme::parallel::data
