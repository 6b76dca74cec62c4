// Goal:   slices cover a range exactly once, in order, and begin on cache lines.
// Method: every count up to 300, every number of members up to 9, every element size.

#include "trireme/comm/algorithm/partition.h"

#include <gtest/gtest.h>

namespace trireme::comm {
namespace {

TEST(Partition, SlicesFollowEachOtherWithoutGapOrOverlap) {
  for (const std::size_t grain : {1u, 8u, 16u, 64u}) {
    for (std::size_t members = 1; members <= 9; ++members) {
      for (std::size_t count = 0; count <= 300; ++count) {
        std::size_t next = 0;
        for (std::size_t m = 0; m < members; ++m) {
          const MemberSlice slice = slice_of(count, members, m, grain);
          ASSERT_EQ(slice.first, next) << count << " over " << members << " by " << grain;
          ASSERT_TRUE(slice.count == 0 || slice.first % grain == 0);
          next += slice.count;
        }
        ASSERT_EQ(next, count) << members << " members, grain " << grain;
      }
    }
  }
}

TEST(Partition, SlicesAreEvenUpToTheGrain) {
  for (std::size_t members = 1; members <= 9; ++members) {
    for (const std::size_t count : {4096u, 4097u, 1000003u}) {
      for (std::size_t m = 0; m < members; ++m) {
        EXPECT_LT(slice_of(count, members, m, 16).count, count / members + 1 + 16);
      }
    }
  }
}

TEST(Partition, AGrainIsACacheLine) {
  EXPECT_EQ(line_grain(1), 64u);
  EXPECT_EQ(line_grain(2), 32u);
  EXPECT_EQ(line_grain(4), 16u);
  EXPECT_EQ(line_grain(8), 8u);
}

TEST(Partition, OffsetsAreRunningSums) {
  EXPECT_EQ(offsets_of({}), (std::vector<std::size_t>{0}));
  const std::vector<std::size_t> counts{3, 0, 5, 1};
  EXPECT_EQ(offsets_of(counts), (std::vector<std::size_t>{0, 3, 3, 8, 9}));
}

}  // namespace
}  // namespace trireme::comm
