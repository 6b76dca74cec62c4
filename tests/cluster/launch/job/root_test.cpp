// Goal:   a job's secret is never written where another user could read it.
// Method: roots of every unsafe kind; XDG_RUNTIME_DIR set to valid and invalid folders.

#include "trireme/cluster/launch/job/root.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "trireme/base/error.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/testing/scoped_variable.h"

namespace trireme::cluster::launch::job {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

class Roots : public ::testing::Test {
 protected:
  std::string refusal(const fs::path& root) {
    try {
      make_safe(root);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::InvalidInput);
      return error.message();
    }
    return "";
  }

  TemporaryFolder folder_{"root-test"};
  trireme::testing::ScopedVariable variable_{"XDG_RUNTIME_DIR", std::nullopt};
};

TEST_F(Roots, AreCreatedPrivate) {
  const fs::path root = folder_.path() / "trireme";
  make_safe(root);
  make_safe(root);
  struct stat status{};
  ASSERT_EQ(lstat(root.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
}

TEST_F(Roots, LinksFilesAndOpenFoldersAreRefused) {
  const fs::path real = folder_.path() / "real";
  make_safe(real);
  const fs::path link = folder_.path() / "link";
  fs::create_directory_symlink(real, link);
  EXPECT_THAT(refusal(link), HasSubstr("is no folder"));
  const fs::path file = folder_.path() / "file";
  std::ofstream(file) << "x";
  EXPECT_THAT(refusal(file), HasSubstr("is no folder"));
  chmod(real.c_str(), 0755);
  EXPECT_THAT(refusal(real), HasSubstr("open to other users"));
  EXPECT_THAT(refusal(real), HasSubstr("XDG_RUNTIME_DIR"));
}

TEST_F(Roots, AFolderOfAnotherUserIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root to make a folder of another user";
  const fs::path root = folder_.path() / "theirs";
  make_safe(root);
  ASSERT_EQ(chown(root.c_str(), 12345, 12345), 0);
  EXPECT_THAT(refusal(root), HasSubstr("belongs to user 12345"));
}

TEST_F(Roots, XdgRuntimeDirIsUsedIfThisUserOwnsIt) {
  variable_.set(folder_.path());
  EXPECT_EQ(own_root(), folder_.path() / "trireme");
  EXPECT_EQ(known_roots().front(), folder_.path() / "trireme");
}

TEST_F(Roots, AnInvalidXdgRuntimeDirIsSkipped) {
  const fs::path other = "/tmp/trireme-" + std::to_string(geteuid());
  for (const std::string& wrong : {std::string("relative"), std::string("/does/not/exist")}) {
    variable_.set(wrong);
    EXPECT_EQ(own_root(), other) << wrong;
  }
  variable_.set(std::nullopt);
  EXPECT_EQ(own_root(), other);
}

TEST_F(Roots, ALongXdgRuntimeDirIsUsed) {
  const fs::path deep = folder_.path() / std::string(120, 'x');
  fs::create_directory(deep);
  variable_.set(deep);
  EXPECT_EQ(own_root(), deep / "trireme");
}

TEST_F(Roots, UnsafeRootsAreNotSearched) {
  variable_.set(folder_.path());
  const fs::path root = own_root();
  chmod(root.c_str(), 0777);
  EXPECT_THAT(known_roots(), Not(Contains(root)));
}

TEST_F(Roots, AreLockedByOneProcessAtATime) {
  make_safe(folder_.path());
  {
    const Descriptor lock = lock_root(folder_.path());
  }
  const Descriptor again = lock_root(folder_.path());
  EXPECT_TRUE(again);
}

}  // namespace
}  // namespace trireme::cluster::launch::job
