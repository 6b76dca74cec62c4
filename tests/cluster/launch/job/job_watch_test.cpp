// Goal:   a worker learns after its timeout that no process watches its job.
// Method: a job's folder of this process, whose lock is released.

#include "trireme/cluster/launch/job/job_watch.h"

#include <gtest/gtest.h>

#include <future>

#include "trireme/base/file/temporary_folder.h"
#include "trireme/cluster/launch/job/folder.h"

namespace trireme::cluster::launch::job {
namespace {

using namespace std::chrono_literals;

TEST(JobWatch, ReportsOnceThatNoProcessWatchesTheJob) {
  const TemporaryFolder root("job-watch-test");
  auto folder = std::make_unique<Folder>(Folder::create(root.path(), "demo"));
  std::promise<void> told;
  auto heard = told.get_future();
  const JobWatch watch(folder->path(), 200ms, [&] { told.set_value(); });
  EXPECT_EQ(heard.wait_for(500ms), std::future_status::timeout)
      << "this process still watches the job";
  const TimePoint dropped = steady_clock().now();
  folder.reset();
  ASSERT_EQ(heard.wait_for(60s), std::future_status::ready);
  EXPECT_GE(steady_clock().now() - dropped, 100ms);
}

TEST(JobWatch, DoesNothingForJobsOfFixedSize) {
  Environment environment;
  EXPECT_EQ(JobWatch::of(environment, [] {}), nullptr);
  environment.is_elastic = true;
  EXPECT_EQ(JobWatch::of(environment, [] {}), nullptr) << "no job's folder";
  environment.folder = "/nowhere/demo";
  EXPECT_NE(JobWatch::of(environment, [] {}), nullptr);
  environment.folder = "";
  environment.store.kind = StorePlace::Kind::Server;
  environment.store.connect = net::Address::unix_socket("/nowhere/demo/store.sock");
  EXPECT_NE(JobWatch::of(environment, [] {}), nullptr);
}

}  // namespace
}  // namespace trireme::cluster::launch::job
