// Goal:   an update that is cut short at any chunk is finished by whoever comes after, with the
// bits
//         of one that was not; a page says how far its rank came.
// Method: a fault in each chunk in turn, torn values put where the update was, and a second page
//         over the same memory.

#include "trireme/parallel/data/ledger.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "trireme/optim/adam.h"

namespace trireme::parallel::data {
namespace {

struct Cut {};

// Throws when the n-th chunk is about to change.
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

constexpr Ledger::Shape kShape{.figures = 5, .states = 2, .element_size = 4, .chunk = 16};

TEST(Ledger, AnUpdateCutShortAnywhereIsFinishedToTheBit) {
  const optim::Adam adam{optim::AdamwConfig{}};
  for (const std::int64_t count : {0, 1, 16, 47, 97}) {
    const Values whole = Values::make(count);
    adam.update(whole.slices(), 3, 0.5);
    for (int cut = 0; cut < 8; ++cut) {
      const auto arena = comm::Arena::create({.members = 2});
      const Ledger ledger(arena, 77, kShape);
      const Values torn = Values::make(count);
      Ledger::Page page = ledger.page(1);
      page.begin(4);
      CutAt faults(cut);
      bool is_cut = false;
      try {
        page.update(torn.slices(), adam, 3, 0.5, &faults);
      } catch (const Cut&) {
        is_cut = true;
        // What the dying update left may be anything, within its chunk.
        const std::int64_t first = count / 3;
        const std::int64_t first_chunks = (first + 15) / 16;
        const std::int64_t begin =
            cut < first_chunks ? 16 * cut : first + 16 * (cut - first_chunks);
        const std::int64_t end = std::min(begin + 16, cut < first_chunks ? first : count);
        torn.value.narrow(0, begin, end - begin).fill_(-1);
        torn.square.narrow(0, begin, end - begin).fill_(-2);
      }
      Ledger::Page heir = ledger.page(1);
      if (is_cut) heir.update(torn.slices(), adam, 3, 0.5);
      EXPECT_TRUE(torn.equals(whole)) << count << " elements, cut at chunk " << cut;
    }
  }
}

TEST(Ledger, APageSaysHowFarItsRankCame) {
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
  // Whoever comes late still finds what was agreed on.
  EXPECT_EQ(seen.figures()[0], 1);
  EXPECT_EQ(ledger.page(1).step(), 0);
}

}  // namespace
}  // namespace trireme::parallel::data
