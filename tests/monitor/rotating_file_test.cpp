// Goal:   the file never exceeds its maximum size, and every line is complete in exactly one of the
//         two files.
// Method: numbered lines over many rotations; a full device.

#include "trireme/monitor/rotating_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <sstream>

#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"

namespace trireme::monitor {
namespace {

TEST(RotatingFile, KeepsTheLastLinesWholeAndInOrder) {
  const TemporaryFolder folder("rotating-test");
  const auto path = folder.path() / "events.jsonl";
  RotatingFile file(path, 100);
  for (int i = 0; i < 1000; ++i) {
    file.append("line " + std::to_string(i));
    EXPECT_LE(std::filesystem::file_size(path), 100u);
  }
  EXPECT_EQ(file.dropped(), 0u);
  std::istringstream text(read_file(folder.path() / "events.jsonl.1") + read_file(path));
  int last = -1;
  int count = 0;
  for (std::string word; text >> word >> last; ++count) EXPECT_EQ(word, "line");
  EXPECT_EQ(last, 999);
  EXPECT_GE(count * 9, 100);
  EXPECT_LE(count * 9, 200);
}

TEST(RotatingFile, IsPrivateAndBeginsEmpty) {
  const TemporaryFolder folder("rotating-test");
  const auto path = folder.path() / "x";
  {
    RotatingFile(path, 100).append("old");
  }
  const RotatingFile file(path, 100);
  EXPECT_EQ(read_file(path), "");
  struct stat status{};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST(RotatingFile, BoundarySizes) {
  const TemporaryFolder folder("rotating-test");
  const auto path = folder.path() / "x";
  RotatingFile file(path, 4);
  file.append("abc");
  EXPECT_EQ(read_file(path), "abc\n") << "exactly full";
  file.append("abcd");
  EXPECT_EQ(file.dropped(), 1u) << "longer than the file may be";
  file.append("");
  EXPECT_EQ(read_file(path), "\n");
}

TEST(RotatingFile, AFullDiskDropsAndCounts) {
  const TemporaryFolder folder("rotating-test");
  EXPECT_THROW(RotatingFile(folder.path() / "missing" / "x"), Error);
  // Opened by its real name, /dev/full accepts no data.
  RotatingFile full("/dev/full", 1000);
  full.append("lost");
  full.append("lost too");
  EXPECT_EQ(full.dropped(), 2u);
}

TEST(RotatingFile, GoesOnWhenANewFileCouldNotBeBegunForAWhile) {
  const TemporaryFolder folder("rotating-test");
  const auto path = folder.path() / "x";
  RotatingFile file(path, 4);
  file.append("abc");
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{.rlim_cur = 3, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  file.append("def");
  file.append("ghi");
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(file.dropped(), 2u) << "no descriptor was to be had";
  file.append("jkl");
  EXPECT_EQ(read_file(path), "jkl\n");
  EXPECT_EQ(file.dropped(), 2u);
}

}  // namespace
}  // namespace trireme::monitor
