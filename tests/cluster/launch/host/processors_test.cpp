// Goal:   the processors found are those of the affinity mask, with the kernel's topology, and
//         binding to one of them works.
// Method: this machine's mask compared with sched_getaffinity; an artificial topology; threads, so
//         that the binding ends with them.

#include "trireme/cluster/launch/host/processors.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <cerrno>
#include <fstream>
#include <thread>

#include "trireme/base/file/temporary_folder.h"

namespace trireme::cluster::launch::host {
namespace {

TEST(Processors, MatchTheAffinityMask) {
  cpu_set_t mask;
  ASSERT_EQ(sched_getaffinity(0, sizeof(mask), &mask), 0);
  const auto processors = allowed_processors();
  EXPECT_EQ(processors.size(), static_cast<std::size_t>(CPU_COUNT(&mask)));
  for (const Processor& processor : processors) EXPECT_TRUE(CPU_ISSET(processor.id, &mask));
}

TEST(Processors, PackageAndCoreComeFromTheTopology) {
  const TemporaryFolder root("processors-test");
  const int id = allowed_processors().front().id;
  const auto folder =
      root.path() / "sys/devices/system/cpu" / ("cpu" + std::to_string(id)) / "topology";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "physical_package_id") << "1\n";
  std::ofstream(folder / "thread_siblings_list") << "5,69\n";
  const Processor first = allowed_processors(root.path()).front();
  EXPECT_EQ(first.package, 1);
  EXPECT_EQ(first.core, 5);
}

TEST(Processors, WithoutTopologyEachProcessorIsACore) {
  const TemporaryFolder empty("processors-test");
  for (const Processor& processor : allowed_processors(empty.path())) {
    EXPECT_EQ(processor.core, processor.id);
  }
}

TEST(Processors, BindingTakesEffect) {
  for (const Processor& processor : allowed_processors()) {
    std::thread([&] {
      EXPECT_EQ(bind_to(&processor.id, 1), 0);
      const auto left = allowed_processors();
      ASSERT_EQ(left.size(), 1u);
      EXPECT_EQ(left.front().id, processor.id);
      EXPECT_EQ(sched_getcpu(), processor.id);
    }).join();
  }
}

TEST(Processors, BindingToAnEmptySetFails) {
  std::thread([] { EXPECT_EQ(bind_to(nullptr, 0), EINVAL); }).join();
}

}  // namespace
}  // namespace trireme::cluster::launch::host
