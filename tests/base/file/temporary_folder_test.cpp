// Goal:   a temporary folder is removed with its owner, also if the owner was killed.
// Method: real folders inside a test folder; a forked child that kills itself.

#include "trireme/base/file/temporary_folder.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <optional>

#include "trireme/base/error.h"

namespace trireme {
namespace {

namespace fs = std::filesystem;

void fill(const fs::path& folder) {
  fs::create_directories(folder / "a" / "b");
  std::ofstream(folder / "a" / "b" / "file") << "content";
  fs::create_symlink("/", folder / "a" / "root");
}

class OwnFolder : public ::testing::Test {
 protected:
  std::size_t count() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(parent_.path()), fs::directory_iterator()));
  }

  const TemporaryFolder parent_{"folder-test"};
};

TEST_F(OwnFolder, IsRemovedWithItsOwnerAndItsContent) {
  fs::path path;
  {
    const TemporaryFolder folder("x", parent_.path());
    path = folder.path();
    struct stat status{};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700u);
    fill(path);
  }
  EXPECT_FALSE(fs::exists(path));
  EXPECT_TRUE(fs::exists("/proc")) << "the symbolic link was not followed";
}

TEST_F(OwnFolder, MovesWithItsOwner) {
  std::optional<TemporaryFolder> first(std::in_place, "x", parent_.path());
  TemporaryFolder second = std::move(*first);
  first.reset();
  EXPECT_TRUE(fs::exists(second.path()));
  second = TemporaryFolder("y", parent_.path());
  EXPECT_EQ(count(), 1u) << "the previous folder was removed by the assignment";
}

TEST_F(OwnFolder, SeveralFoldersExistSideBySide) {
  const TemporaryFolder first("x", parent_.path());
  const TemporaryFolder second("x", parent_.path());
  EXPECT_NE(first.path(), second.path());
  EXPECT_TRUE(fs::exists(first.path()));
}

TEST_F(OwnFolder, TheNextFolderRemovesThatOfAKilledOwner) {
  const pid_t child = ::fork();
  if (child == 0) {
    const TemporaryFolder folder("x", parent_.path());
    fill(folder.path());
    ::raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  ASSERT_EQ(count(), 1u);
  {
    const TemporaryFolder other("y", parent_.path());
    EXPECT_EQ(count(), 2u) << "folders with another label are kept";
  }
  const TemporaryFolder next("x", parent_.path());
  EXPECT_EQ(count(), 1u);
}

TEST_F(OwnFolder, SweepsOnlyItsOwnFolders) {
  fs::create_directory(parent_.path() / "trireme-x-0123456789abcdeg");
  fs::create_directory(parent_.path() / "trireme-x-0123");
  std::ofstream(parent_.path() / "trireme-x-0123456789abcdef") << "a file";
  EXPECT_EQ(sweep_temporary_folders("x", parent_.path()), 0);
  EXPECT_EQ(count(), 3u);
}

TEST_F(OwnFolder, AMissingParentIsReported) {
  try {
    const TemporaryFolder folder("x", parent_.path() / "absent");
    FAIL() << folder.path();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Io);
    EXPECT_NE(error.message().find("absent"), std::string::npos);
  }
}

}  // namespace
}  // namespace trireme
