// Goal:   every case of the suite holds over Open MPI, for what that transport promises.
// Method: mpirun starts this binary again once a rank, with a filter for the second test here,
//         which only does something there. Skipped, and said so, where there is no MPI.

#include <gtest/gtest.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>

#include "tests/conformance/sweep.h"
#include "trireme/base/temporary_folder.h"
#include "trireme/cluster/world.h"
#include "trireme/comm/connect.h"
#include "trireme/comm/mpi/messenger.h"
#include "trireme/testing/command_process.h"

namespace trireme::comm::conformance {
namespace {

using namespace std::chrono_literals;

constexpr const char* kMpirun = "/usr/bin/mpirun";

std::string this_binary() {
  char path[PATH_MAX];
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof(path));
  return std::string(path, static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
}

class Mpi : public ::testing::TestWithParam<int> {};

TEST_P(Mpi, Conforms) {
  if (!mpi::is_available()) GTEST_SKIP() << "this build has no MPI";
  if (::access(kMpirun, X_OK) != 0) GTEST_SKIP() << "no " << kMpirun << ": MPI was not tested";
  const TemporaryFolder folder("mpi");
  testing::CommandProcess run(
      {.command = {kMpirun, "--allow-run-as-root", "--oversubscribe", "--mca",
                   "mpi_yield_when_idle", "1", "-n", std::to_string(GetParam()), this_binary(),
                   "--gtest_filter=MpiRank.Sweeps", "--gtest_brief=1"},
       .environment = {{"CONFORMANCE_MPI", "1"},
                       {"TRIREME_JOB", "mpi"},
                       {"TRIREME_STORE", "folder:" + folder.path().string()}}});
  const int code = run.wait_exit(Deadline::after(110s));
  EXPECT_EQ(code, 0) << run.out() << run.error();
}

INSTANTIATE_TEST_SUITE_P(Worlds, Mpi, ::testing::Values(2, 3, 4, 7));

TEST(MpiRank, Sweeps) {
  if (std::getenv("CONFORMANCE_MPI") == nullptr) GTEST_SKIP() << "only under mpirun";
  cluster::World world = cluster::World::join();
  const Group group =
      connect(world, {.transport = Transport::Mpi, .timeout = 30s, .operation_timeout = 30s});
  EXPECT_EQ(conformance_sweep(group), "");
  group.barrier().wait();
}

}  // namespace
}  // namespace trireme::comm::conformance
