// Goal:   loops of ours that are split with at::parallel_for run on every thread of the rank, which
//         are torch's own threads.
// Method: the chunks of a loop meet; one OpenMP runtime is mapped into this process.

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <set>
#include <string>

#include "trireme/base/deadline.h"

namespace trireme {
namespace {

#if defined(__GNUC__) && !defined(__clang__)

TEST(Threads, ALoopOfOursRunsOnEveryThread) {
  const int before = at::get_num_threads();
  at::set_num_threads(2);
  std::atomic<int> arrived{0};
  std::atomic<int> met{0};
  at::parallel_for(0, 2, 1, [&](std::int64_t, std::int64_t) {
    ++arrived;
    // On one thread the first chunk waits in vain for the second.
    const Deadline limit = Deadline::after(std::chrono::seconds(20));
    while (arrived < 2 && !limit.is_past()) {
    }
    if (arrived == 2) ++met;
  });
  at::set_num_threads(before);
  EXPECT_EQ(met, 2);
}

TEST(Threads, OneOpenMpRuntimeIsLoaded) {
  std::set<std::string> runtimes;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const std::size_t path = line.find('/');
    if (path == std::string::npos) continue;
    if (line.find("libgomp", path) != std::string::npos ||
        line.find("libiomp", path) != std::string::npos) {
      runtimes.insert(line.substr(path));
    }
  }
  EXPECT_EQ(runtimes.size(), 1u);
}

#else

TEST(Threads, ALoopOfOursRunsOnEveryThread) {
  GTEST_SKIP() << "at::parallel_for is serial in code that clang compiles against torch's libgomp";
}

#endif

}  // namespace
}  // namespace trireme
