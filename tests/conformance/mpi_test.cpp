// Goal:   every case of the suite passes over Open MPI, within that transport's capabilities.
// Method: mpirun starts this binary once per rank, with a filter for the second test here, which
//         does something only there. Skipped, with a message, if there is no MPI.

#include <gtest/gtest.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>

#include "tests/cluster/store_server.h"
#include "tests/conformance/sweep.h"
#include "trireme/base/file/temporary_folder.h"
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
                   "--gtest_filter=MpiRank.RunsAllCases", "--gtest_brief=1"},
       .environment = {{"CONFORMANCE_MPI", "1"},
                       {"TRIREME_JOB", "mpi"},
                       {"XDG_RUNTIME_DIR", folder.path().string()}}});
  // 3 s on an idle machine, 90 s on a busy one.
  const int code = run.wait_exit(Deadline::after(550s));
  EXPECT_EQ(code, 0) << run.out() + run.error();
}

INSTANTIATE_TEST_SUITE_P(Worlds, Mpi,
                         ::testing::ValuesIn(runs_all_worlds() ? std::vector<int>{2, 3, 4, 7}
                                                               : std::vector<int>{3}));

// The job numbers the two ranks in the opposite order to mpirun.
TEST(MpiNumbers, RankNumbersMustMatchTheJobs) {
  if (!mpi::is_available()) GTEST_SKIP() << "this build has no MPI";
  if (::access(kMpirun, X_OK) != 0) GTEST_SKIP() << "no " << kMpirun << ": MPI was not tested";
  const cluster::StoreServer store;
  std::vector<std::string> command{kMpirun, "--allow-run-as-root", "--oversubscribe"};
  for (const char* rank : {"TRIREME_RANK=1", "TRIREME_RANK=0"}) {
    if (command.size() > 3) command.push_back(":");
    for (const std::string& word :
         {std::string("-n"), std::string("1"), std::string("-x"), std::string(rank), this_binary(),
          std::string("--gtest_filter=MpiRank.IsRefused"), std::string("--gtest_brief=1")}) {
      command.push_back(word);
    }
  }
  testing::CommandProcess run(
      {.command = command,
       .environment = store.variables(
           {{"CONFORMANCE_MPI", "1"}, {"TRIREME_JOB", "mpi"}, {"TRIREME_SIZE", "2"}})});
  EXPECT_EQ(run.wait_exit(Deadline::after(60s)), 0) << run.out() << run.error();
}

TEST(MpiRank, IsRefused) {
  if (std::getenv("CONFORMANCE_MPI") == nullptr) GTEST_SKIP() << "only under mpirun";
  cluster::World world = cluster::World::join();
  try {
    connect(world, {.transport = Transport::Mpi, .timeout = 30s});
    FAIL() << "connected";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidInput);
    EXPECT_NE(std::string(error.what()).find("of 2 in MPI"), std::string::npos) << error.what();
  }
}

TEST(MpiRank, RunsAllCases) {
  if (std::getenv("CONFORMANCE_MPI") == nullptr) GTEST_SKIP() << "only under mpirun";
  cluster::World world = cluster::World::join();
  const Group group =
      connect(world, {.transport = Transport::Mpi, .timeout = 30s, .operation_timeout = 30s});
  const std::string complaints = conformance_sweep(group);
  EXPECT_TRUE(complaints.empty()) << complaints;
  group.barrier().wait();
}

}  // namespace
}  // namespace trireme::comm::conformance
