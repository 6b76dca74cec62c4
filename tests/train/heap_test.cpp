// Goal:   large memory that was given back is the memory that the next one gets.
// Method: the same size twice; by default the kernel would hand out fresh pages each time.

#include "trireme/train/heap.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace trireme::train {
namespace {

TEST(Heap, LargeMemoryIsKept) {
  keep_large_memory();
  constexpr std::size_t kSize = std::size_t{96} << 20;
  void* first = std::malloc(kSize);
  std::memset(first, 1, kSize);
  const auto place = reinterpret_cast<std::uintptr_t>(first);
  std::free(first);
  void* second = std::malloc(kSize);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(second), place);
  std::free(second);
}

}  // namespace
}  // namespace trireme::train
