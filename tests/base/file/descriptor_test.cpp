// Goal:   a descriptor is closed exactly once, by its last owner.
// Method: open /dev/null and check whether the number is still in use.

#include "trireme/base/file/descriptor.h"

#include <fcntl.h>
#include <gtest/gtest.h>

namespace trireme {
namespace {

bool is_open(int descriptor) {
  return ::fcntl(descriptor, F_GETFD) >= 0;
}

Descriptor open_null() {
  return Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
}

TEST(Descriptor, ClosesWithItsOwner) {
  int number = -1;
  {
    const Descriptor owner = open_null();
    number = owner.get();
    ASSERT_TRUE(owner);
    EXPECT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
}

TEST(Descriptor, MovesWithoutClosing) {
  Descriptor first = open_null();
  const int number = first.get();
  Descriptor second = std::move(first);
  EXPECT_FALSE(first);
  EXPECT_EQ(second.get(), number);
  EXPECT_TRUE(is_open(number));

  Descriptor third = open_null();
  const int replaced = third.get();
  third = std::move(second);
  EXPECT_FALSE(is_open(replaced));
  EXPECT_TRUE(is_open(number));
}

TEST(Descriptor, ReleaseGivesUpOwnership) {
  Descriptor owner = open_null();
  const int number = owner.release();
  EXPECT_FALSE(owner);
  owner.reset();
  EXPECT_TRUE(is_open(number));
  ::close(number);
}

}  // namespace
}  // namespace trireme
