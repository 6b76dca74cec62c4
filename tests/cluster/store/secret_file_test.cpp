// Goal:   ranks of one user find the secret that a live process created, and no other.
// Method: temporary folders; a dead creator is one whose file exists and is not locked.

#include "trireme/cluster/store/secret_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "trireme/base/error.h"
#include "trireme/base/file/descriptor.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"

namespace trireme::cluster {
namespace {

using namespace std::chrono_literals;

Deadline soon() {
  return Deadline::after(20s);
}

class SecretFileTest : public ::testing::Test {
 protected:
  TemporaryFolder runtime{"secret-test"};
  std::filesystem::path folder = runtime.path() / "ranks";
  std::string socket = folder / "job.sock";
  std::filesystem::path file = folder / "job.secret";
};

TEST_F(SecretFileTest, TheSecretIsFoundAndRemovedWithItsCreator) {
  {
    const SecretFile made = SecretFile::make(socket, soon());
    const net::Secret found = SecretFile::find(socket, soon());
    EXPECT_TRUE(std::ranges::equal(found.bytes(), made.secret().bytes()));
    EXPECT_EQ(std::filesystem::status(file).permissions(),
              std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    EXPECT_THROW(SecretFile::make(socket, soon()), Error) << "a job of the same name is running";
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST_F(SecretFileTest, ARankThatComesFirstWaitsForTheCreator) {
  std::optional<SecretFile> made;
  std::thread maker([&] { made.emplace(SecretFile::make(socket, soon())); });
  const net::Secret found = SecretFile::find(socket, soon());
  maker.join();
  EXPECT_TRUE(std::ranges::equal(found.bytes(), made->secret().bytes()));
}

TEST_F(SecretFileTest, ADeadCreatorsSecretIsIgnoredAndSwept) {
  std::filesystem::create_directory(folder);
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
  net::Secret::generate().save(file);
  net::Secret::generate().save(folder / "other.secret");
  write_file_atomically(folder / "other.sock", std::string_view());
  try {
    SecretFile::find(socket, Deadline::after(30ms));
    ADD_FAILURE() << "took the secret of a dead job";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Deadline);
  }
  const SecretFile made = SecretFile::make(socket, soon());
  EXPECT_FALSE(std::filesystem::exists(folder / "other.secret"));
  EXPECT_FALSE(std::filesystem::exists(folder / "other.sock"));
  EXPECT_TRUE(std::ranges::equal(SecretFile::find(socket, soon()).bytes(), made.secret().bytes()));
}

TEST_F(SecretFileTest, FilesOfKilledCreatorsAreSweptAndLockedFilesAreKept) {
  std::filesystem::create_directory(folder);
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
  for (const char* name : {"a.secret.new", "b.sock.lock", "c.sock.lock"}) {
    write_file_atomically(folder / name, std::string_view());
  }
  const Descriptor held(::open((folder / "c.sock.lock").c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::flock(held.get(), LOCK_EX), 0);
  const SecretFile made = SecretFile::make(socket, soon());
  EXPECT_FALSE(std::filesystem::exists(folder / "a.secret.new"));
  EXPECT_FALSE(std::filesystem::exists(folder / "b.sock.lock"));
  EXPECT_TRUE(std::filesystem::exists(folder / "c.sock.lock"))
      << "a process that creates a socket holds this lock";
}

TEST_F(SecretFileTest, AFolderThatOtherUsersCanEnterIsRefused) {
  std::filesystem::create_directory(folder);
  std::filesystem::permissions(folder, std::filesystem::perms(0755));
  EXPECT_THROW(SecretFile::make(socket, soon()), Error);
  std::filesystem::remove(folder);
  const std::filesystem::path elsewhere = runtime.path() / "elsewhere";
  std::filesystem::create_directory(elsewhere);
  std::filesystem::create_directory_symlink(elsewhere, folder);
  EXPECT_THROW(SecretFile::make(socket, soon()), Error)
      << "a symbolic link is not accepted as the folder";
}

}  // namespace
}  // namespace trireme::cluster
