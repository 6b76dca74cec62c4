// Goal:   a full disk is Exhausted, keeps the old file, and leaves no temporary file.
// Method: a tmpfs of 64 KiB that a forked child mounts in its own mount namespace, so that nothing
//         stays behind. Requires the right to mount; otherwise the test reports that it is skipped.

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"

namespace trireme {
namespace {

namespace fs = std::filesystem;

constexpr int kPassed = 0;
constexpr int kMayNotMount = 2;

int failed(const char* what) {
  std::fprintf(stderr, "on the full disk: %s\n", what);
  return 1;
}

int fill_disk(const fs::path& folder) {
  if (::unshare(CLONE_NEWNS) != 0) return kMayNotMount;
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return kMayNotMount;
  if (::mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=64k") != 0) return kMayNotMount;

  const fs::path path = folder / "file";
  write_file_atomically(path, "old");
  try {
    write_file_atomically(path, std::string(256 * 1024, 'x'));
    return failed("256 KiB fit into 64");
  } catch (const Error& error) {
    if (error.code() != ErrorCode::Exhausted) return failed(error.what());
  }
  if (read_file(path) != "old") return failed("the old content is gone");
  if (std::distance(fs::directory_iterator(folder), fs::directory_iterator()) != 1) {
    return failed("a temporary file was not removed");
  }
  write_file_atomically(path, std::string(16 * 1024, 'y'));
  return read_file(path).size() == 16 * 1024 ? kPassed
                                             : failed("no space was free after the failure");
}

TEST(FileOnAFullDisk, IsExhaustedAndKeepsTheOldFile) {
  const TemporaryFolder folder("full-disk-test");
  const pid_t child = ::fork();
  if (child == 0) {
    int result = 1;
    try {
      result = fill_disk(folder.path());
    } catch (const std::exception& error) {
      failed(error.what());
    }
    ::_exit(result);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "status " << status;
  if (WEXITSTATUS(status) == kMayNotMount) {
    GTEST_SKIP() << "NOT TESTED: a full disk. Mounting a tmpfs needs root; run the tests as root.";
  }
  EXPECT_EQ(WEXITSTATUS(status), kPassed);
}

}  // namespace
}  // namespace trireme
