// Goal:   every requested byte is overwritten with random bits, and no two processes draw the same.
// Method: each position must change over a few draws (a byte stays equal in 16 draws by chance once
//         in 2^120); a forked process, which inherits the generator, draws beside its parent.

#include "trireme/base/entropy.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>

namespace trireme {
namespace {

class SecureRandom : public ::testing::TestWithParam<std::size_t> {};

TEST_P(SecureRandom, OverwritesEveryByte) {
  const std::size_t size = GetParam();
  const Bytes first = secure_random(size);
  ASSERT_EQ(first.size(), size);
  std::vector<bool> has_changed(size, false);
  for (int draw = 0; draw < 15; ++draw) {
    Bytes next = first;
    secure_random(std::span(next));
    for (std::size_t i = 0; i < size; ++i) {
      if (next[i] != first[i]) has_changed[i] = true;
    }
  }
  for (std::size_t i = 0; i < size; ++i) EXPECT_TRUE(has_changed[i]) << "byte " << i;
}

INSTANTIATE_TEST_SUITE_P(Sizes, SecureRandom, ::testing::Values(0, 1, 31, 32, 256, 257, 4099));

TEST(SecureRandom, NamesDoNotRepeat) {
  std::set<std::string> names;
  for (int i = 0; i < 1000; ++i) names.insert(secure_random_hex(8));
  EXPECT_EQ(names.size(), 1000u);
  EXPECT_EQ(names.begin()->size(), 16u);
}

TEST(SecureRandom, AForkedProcessDrawsOtherBytesThanItsParent) {
  secure_random(32);  // the generator exists before the fork
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const Bytes drawn = secure_random(32);
    ::_exit(::write(ends[1], drawn.data(), drawn.size()) == 32 ? 0 : 1);
  }
  const Bytes own = secure_random(32);
  Bytes others(32);
  EXPECT_EQ(::read(ends[0], others.data(), others.size()), 32);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_NE(own, others);
  for (const int end : ends) ::close(end);
}

}  // namespace
}  // namespace trireme
