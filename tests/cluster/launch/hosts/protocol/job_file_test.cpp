// Goal:   a host finds a file that it has, keeps a copy of one that it lacks, and never uses one
//         that differs.
// Method: two folders represent two hosts.

#include "trireme/cluster/launch/hosts/protocol/job_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"

namespace trireme::cluster::launch::hosts {
namespace {

namespace fs = std::filesystem;

class JobFileTest : public ::testing::Test {
 protected:
  JobFileTest() {
    write_file_atomically(file_, "#!/bin/sh\necho hello\n", {.mode = 0755});
    job_file_ = JobFile::of(file_);
  }
  fs::path fetch(const std::string& content) const {
    Fetch copy(cache_, job_file_);
    copy.write(bytes_of(content.substr(0, 3)));
    copy.write(bytes_of(content.substr(3)));
    return copy.finish();
  }

  TemporaryFolder folder_{"cargo-test"};
  fs::path file_ = folder_.path() / "program";
  Cache cache_{folder_.path() / "cache"};
  JobFile job_file_;
};

TEST_F(JobFileTest, TheHostsOwnFileIsUsed) {
  EXPECT_EQ(job_file_.size, 21u);
  EXPECT_TRUE(job_file_.is_executable);
  EXPECT_EQ(cache_.find(job_file_), file_);
}

TEST_F(JobFileTest, AMissingFileIsFetchedOnce) {
  const std::string content = read_file(file_);
  fs::remove(file_);
  EXPECT_EQ(cache_.find(job_file_), std::nullopt);
  const fs::path copy = fetch(content);
  EXPECT_EQ(cache_.find(job_file_), copy);
  EXPECT_EQ(read_file(copy), content);
  EXPECT_EQ(access(copy.c_str(), X_OK), 0);
  struct stat status{};
  ASSERT_EQ(stat(copy.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 077u, 0u) << "no other user can change the program that runs";
  EXPECT_EQ(stat(copy.parent_path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 077u, 0u);
}

TEST_F(JobFileTest, AFileThatDiffersIsNotUsed) {
  write_file_atomically(file_, "#!/bin/sh\necho HELLO\n", {.mode = 0755});
  EXPECT_EQ(cache_.find(job_file_), std::nullopt);
  EXPECT_THROW(fetch(read_file(file_)), Error);
  EXPECT_THROW(fetch("short"), Error);
  EXPECT_TRUE(fs::is_empty(cache_.place_of(job_file_).parent_path()))
      << "an incomplete copy was not removed";
}

TEST_F(JobFileTest, ADamagedCopyIsFetchedAgain) {
  const std::string content = read_file(file_);
  fs::remove(file_);
  const fs::path copy = fetch(content);
  write_file_atomically(copy, "#!/bin/sh\necho HELLO\n", {.mode = 0755});
  EXPECT_EQ(cache_.find(job_file_), std::nullopt);
  EXPECT_EQ(read_file(fetch(content)), content);
}

TEST_F(JobFileTest, OldCopiesAreRemoved) {
  const fs::path copy = fetch(read_file(file_));
  const fs::path other = folder_.path() / "cache" / "not-ours";
  write_file_atomically(other, "x");
  EXPECT_EQ(cache_.sweep(), 0);
  EXPECT_EQ(cache_.sweep(std::chrono::hours(-1)), 1);
  EXPECT_FALSE(fs::exists(copy));
  EXPECT_TRUE(fs::exists(other));
}

TEST_F(JobFileTest, ADigestCannotNameAPathOutsideTheCache) {
  job_file_.digest = "../../evil";
  EXPECT_THROW(Fetch(cache_, job_file_), Error);
  EXPECT_THROW(JobFile::of(folder_.path() / "absent"), Error);
}

}  // namespace
}  // namespace trireme::cluster::launch::hosts
