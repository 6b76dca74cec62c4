// Goal:   freed large memory is reused by the next allocation, until it is explicitly returned to
//         the kernel.
// Method: in a separate process, because the setting affects the whole process: allocate the same
//         size twice, and compare the resident memory that the kernel reports.

#include "trireme/base/machine/heap.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace trireme {
namespace {

constexpr std::size_t kSize = std::size_t{96} << 20;

std::size_t resident() {
  std::ifstream statm("/proc/self/statm");
  std::size_t all = 0, pages = 0;
  statm >> all >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

void keep_and_return() {
  keep_large_memory();
  void* first = std::malloc(kSize);
  std::memset(first, 1, kSize);
  const auto place = reinterpret_cast<std::uintptr_t>(first);
  std::free(first);
  void* second = std::malloc(kSize);
  if (reinterpret_cast<std::uintptr_t>(second) != place) ::_exit(2);
  std::free(second);
  const std::size_t kept = resident();
  return_free_memory();
  ::_exit(resident() + kSize / 2 < kept ? 0 : 3);
}

TEST(Heap, LargeMemoryIsKeptUntilItIsReturned) {
#ifdef TRIREME_IS_SANITIZED
  GTEST_SKIP() << "SKIPPED: a sanitizer has a heap of its own";
#endif
  EXPECT_EXIT(keep_and_return(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace trireme
