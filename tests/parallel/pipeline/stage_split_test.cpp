// Goal:   blocks are divided into stages so that the largest stage is as small as possible, or by
//         layers, or where the user says; every block is in one stage, and no stage is empty. What
//         is impossible is refused with the setting and the numbers.
// Method: the split by parameters is compared with all possible splits of random sizes; the others
//         with splits that were made by hand.

#include "trireme/parallel/pipeline/stage_split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <random>

#include "trireme/base/error.h"

namespace trireme::parallel::pipeline {
namespace {

using model::BlockRange;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<BlockSize> sizes(const std::vector<std::int64_t>& parameters) {
  std::vector<BlockSize> blocks;
  for (const std::int64_t count : parameters) {
    blocks.push_back({.path = "b" + std::to_string(blocks.size()), .parameters = count});
  }
  return blocks;
}

// An embedding, two layers of two blocks, and a head.
std::vector<BlockSize> text_model() {
  return {{"transformer", 100},    {"transformer.h.0", 40}, {"transformer.h.0", 80},
          {"transformer.h.1", 40}, {"transformer.h.1", 80}, {"", 100}};
}

std::int64_t largest(const std::vector<BlockSize>& blocks, const std::vector<BlockRange>& stages) {
  std::int64_t most = 0;
  for (const BlockRange& stage : stages) {
    std::int64_t sum = 0;
    for (std::size_t i = stage.begin; i < stage.end; ++i) sum += blocks[i].parameters;
    most = std::max(most, sum);
  }
  return most;
}

std::int64_t least_of_all(const std::vector<BlockSize>& blocks, int stages) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::vector<BlockRange> split;
  const std::function<void(std::size_t)> extend = [&](std::size_t begin) {
    if (static_cast<int>(split.size()) == stages) {
      if (begin == blocks.size()) least = std::min(least, largest(blocks, split));
      return;
    }
    for (std::size_t end = begin + 1; end <= blocks.size(); ++end) {
      split.push_back({begin, end});
      extend(end);
      split.pop_back();
    }
  };
  extend(0);
  return least;
}

TEST(StageSplitTest, TheLargestStageHasAsFewParametersAsPossible) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::int64_t> counts(1 + random() % 8);
    for (std::int64_t& count : counts) count = random() % 10;
    const std::vector<BlockSize> blocks = sizes(counts);
    for (int stages = 1; stages <= static_cast<int>(blocks.size()); ++stages) {
      const auto split = split_into_stages(blocks, stages, {});
      ASSERT_EQ(split.size(), static_cast<std::size_t>(stages));
      std::size_t next = 0;
      for (const BlockRange& stage : split) {
        EXPECT_EQ(stage.begin, next);
        EXPECT_GT(stage.count(), 0U);
        next = stage.end;
      }
      EXPECT_EQ(next, blocks.size());
      EXPECT_EQ(largest(blocks, split), least_of_all(blocks, stages));
    }
  }
}

TEST(StageSplitTest, OtherStagesAreEvenToo) {
  // 9 is the largest stage whatever the others are.
  EXPECT_THAT(split_into_stages(sizes({9, 2, 2, 2, 2}), 3, {}),
              ElementsAre(BlockRange{0, 1}, BlockRange{1, 3}, BlockRange{3, 5}));
}

TEST(StageSplitTest, LayersAreNotDivided) {
  const StageSplit by_layers{.by = SplitBy::Layers};
  EXPECT_THAT(split_into_stages(text_model(), 2, by_layers),
              ElementsAre(BlockRange{0, 3}, BlockRange{3, 6}));
  EXPECT_THAT(split_into_stages(text_model(), 3, by_layers),
              ElementsAre(BlockRange{0, 1}, BlockRange{1, 3}, BlockRange{3, 6}));
  EXPECT_THAT(split_into_stages(text_model(), 4, by_layers),
              ElementsAre(BlockRange{0, 1}, BlockRange{1, 3}, BlockRange{3, 5}, BlockRange{5, 6}));
}

TEST(StageSplitTest, StagesBeginAtThePointsOfTheUser) {
  EXPECT_THAT(split_into_stages(text_model(), 3, {.points = {"transformer.h.0", ""}}),
              ElementsAre(BlockRange{0, 1}, BlockRange{1, 5}, BlockRange{5, 6}));
}

TEST(StageSplitTest, RefusesWhatIsImpossible) {
  const auto text_of = [](int stages, const StageSplit& split) -> std::string {
    try {
      split_into_stages(text_model(), stages, split);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::InvalidInput);
      return error.message();
    }
    return {};
  };
  EXPECT_THAT(text_of(7, {}), HasSubstr("6 blocks cannot be split into 7 stages"));
  EXPECT_THAT(text_of(5, {.by = SplitBy::Layers}), HasSubstr("4 layers cannot be split into 5"));
  EXPECT_THAT(text_of(3, {.points = {"transformer.h.1"}}), HasSubstr("has 1 paths, but 3 stages"));
  EXPECT_THAT(text_of(2, {.points = {"h.1"}}),
              HasSubstr("no block \"h.1\"; it has \"transformer\", \"transformer.h.0\""));
  EXPECT_THAT(text_of(3, {.points = {"transformer.h.1", "transformer.h.0"}}),
              HasSubstr("order of the model"));
  EXPECT_THAT(text_of(2, {.points = {"transformer"}}), HasSubstr("without the first"));
}

}  // namespace
}  // namespace trireme::parallel::pipeline
