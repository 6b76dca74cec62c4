// Goal:   a launcher reads the list of workers that the previous launcher wrote.
// Method: a round trip, and malformed files.

#include "trireme/cluster/launch/job/worker_list.h"

#include <gtest/gtest.h>

#include <fstream>

#include "trireme/base/file/temporary_folder.h"

namespace trireme::cluster::launch::job {
namespace {

TEST(WorkerList, IsReadBackUnchanged) {
  const TemporaryFolder folder("worker-list-test");
  const auto path = folder.path() / "worker_list.json";
  const WorkerList worker_list{
      .next = 9,
      .wanted = 2,
      .is_done = true,
      .members = {{.worker = 3, .pid = 17, .start = 1ull << 40, .share = 1},
                  {.worker = 8, .pid = 18, .start = 0, .share = 0}}};
  worker_list.save(path);
  const auto loaded = WorkerList::load(path);
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->next, 9);
  EXPECT_EQ(loaded->wanted, 2);
  EXPECT_TRUE(loaded->is_done);
  ASSERT_EQ(loaded->members.size(), 2u);
  EXPECT_EQ(loaded->members[0].worker, 3);
  EXPECT_EQ(loaded->members[0].pid, 17);
  EXPECT_EQ(loaded->members[0].start, 1ull << 40);
  EXPECT_EQ(loaded->members[0].share, 1);
  EXPECT_FALSE(std::filesystem::exists(path.string() + ".new"));
}

TEST(WorkerList, MalformedFilesAreRefused) {
  const TemporaryFolder folder("worker-list-test");
  const auto path = folder.path() / "worker_list.json";
  EXPECT_FALSE(WorkerList::load(path));
  for (const char* text : {"", "{", "[]", "{\"next\":1}", "{\"next\":\"x\"}"}) {
    std::ofstream(path) << text;
    EXPECT_FALSE(WorkerList::load(path)) << text;
  }
}

}  // namespace
}  // namespace trireme::cluster::launch::job
