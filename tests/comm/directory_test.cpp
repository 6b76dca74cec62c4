// Goal:   the directory returns the same block to all callers of a key, fills gaps, reports when it
//         is full, and never waits for a lock that another process holds.
// Method: one process, a table over a small file.

#include "trireme/comm/directory.h"

#include <gtest/gtest.h>

#include "trireme/base/error.h"

namespace trireme::comm {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kPages = 10;

class DirectoryTest : public ::testing::Test {
 protected:
  static std::size_t head() { return (64 + Directory::table_size()) / kPage * kPage + kPage; }
  DirectoryTest() {
    file_.reserve(0, head());
    Directory::initialize(file_.data() + 64);
  }
  std::uint64_t make(std::uint64_t key, std::size_t pages) {
    return directory_.find_or_make(key, pages * kPage, 1, true)->offset;
  }

  MemoryFile file_ = MemoryFile::create("directory", head() + kPages * kPage);
  Directory directory_{file_, {.table = 64, .begin = head(), .size = kPages * kPage}};
};

TEST_F(DirectoryTest, TheFirstGapThatIsLargeEnoughIsUsed) {
  EXPECT_EQ(make(1, 2), head());
  EXPECT_EQ(make(2, 3), head() + 2 * kPage);
  EXPECT_EQ(make(3, 1), head() + 5 * kPage);
  EXPECT_TRUE(directory_.release(2));
  EXPECT_EQ(make(4, 4), head() + 6 * kPage) << "three pages are too few";
  EXPECT_EQ(make(5, 1), head() + 2 * kPage);
  EXPECT_EQ(make(6, 2), head() + 3 * kPage);
  EXPECT_THROW(make(7, 1), Error) << "full";
  EXPECT_EQ(make(1, 2), head()) << "an existing block is returned";
}

TEST_F(DirectoryTest, BlocksOfDeadMembersAreFreed) {
  const auto block = directory_.find_or_make(1, 2 * kPage, 3, true, /*epoch=*/6);
  ASSERT_TRUE(block);
  EXPECT_TRUE(directory_.add(4, {123, 45, 6, /*epoch=*/6}));
  make(3, 1);
  EXPECT_FALSE(directory_.release(1));
  directory_.forget(6);
  EXPECT_EQ(directory_.usage()->entries, 3u) << "only blocks of earlier epochs are freed";
  directory_.forget(7);
  EXPECT_EQ(directory_.usage()->entries, 1u) << "blocks without an epoch are kept";
  EXPECT_EQ(directory_.usage()->bytes, kPage);
  EXPECT_FALSE(directory_.release(1));
  EXPECT_EQ(make(2, 1), block->offset);
}

TEST_F(DirectoryTest, AReusedBlockIsZero) {
  const std::uint64_t offset = make(1, 1);
  file_.data()[offset] = std::byte{9};
  EXPECT_TRUE(directory_.release(1));
  EXPECT_EQ(make(2, 1), offset);
  EXPECT_EQ(file_.data()[offset], std::byte{0});
}

TEST_F(DirectoryTest, TheTableHasABound) {
  std::size_t count = 0;
  try {
    for (;; ++count) ASSERT_TRUE(directory_.add(count + 1, {1, 1, 0}));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Exhausted);
  }
  EXPECT_EQ(count, 8192u);
  EXPECT_TRUE(directory_.release(5));
  EXPECT_TRUE(directory_.add(count + 1, {1, 1, 0}));
  EXPECT_EQ(directory_.usage()->entries, 8192u);
  EXPECT_EQ(directory_.usage()->bytes, 0u) << "names use no block memory";
}

TEST_F(DirectoryTest, NamesKeepTheirValues) {
  EXPECT_TRUE(directory_.add(8, {123, 45, 6}));
  EXPECT_EQ(directory_.find(8)->offset, 123u);
  EXPECT_EQ(directory_.find(8)->size, 45u);
  EXPECT_EQ(directory_.find(8)->note, 6u);
  EXPECT_THROW(directory_.add(8, {}), Error);
  EXPECT_FALSE(directory_.find(9).has_value());
  EXPECT_FALSE(directory_.release(9));
}

}  // namespace
}  // namespace trireme::comm
