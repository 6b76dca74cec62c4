// Goal:   a folder of checkpoints has one writer: one job and, within it, the latest epoch.
// Method: locks of several jobs and epochs in this process, which flock(2) treats like processes;
//         the test moves entries itself.

#include "trireme/checkpoint/format/folder_lock.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <optional>
#include <utility>

#include "trireme/base/error.h"
#include "trireme/base/file/temporary_folder.h"

namespace trireme::checkpoint::format {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

template <class Call>
Error thrown_by(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return Error(ErrorCode::Misuse, "nothing");
}

class FolderLockTest : public ::testing::Test {
 protected:
  FolderLock lock_of(const std::string& job, std::int64_t epoch) {
    return FolderLock(folder_, {.job = job, .epoch = epoch});
  }

  TemporaryFolder all_{"lock"};
  fs::path folder_ = all_.path() / "deep" / "er";
};

TEST_F(FolderLockTest, AnotherJobIsRefusedAndTheHolderIsNamed) {
  std::optional<FolderLock> first(std::in_place, folder_);
  for (const char* job : {"", "job"}) {
    const Error error = thrown_by([&] { lock_of(job, 9); });
    EXPECT_EQ(error.code(), ErrorCode::InvalidInput);
    EXPECT_THAT(error.message(), HasSubstr("process " + std::to_string(::getpid()) + " on "));
  }
  first.reset();
  EXPECT_NO_THROW(lock_of("job", 0));
}

// Simulates another process while this one changes its lock from exclusive to shared.
class InBetween final : public Faults {
 public:
  explicit InBetween(std::function<void()> act) : act_(std::move(act)) {}
  void reached(FaultPoint point, int) override {
    if (point == kLockNamed && act_) std::exchange(act_, nullptr)();
  }

 private:
  std::function<void()> act_;
};

TEST_F(FolderLockTest, AJobThatStartsDuringALockChangeIsDetected) {
  std::optional<FolderLock> other;
  InBetween takes([&] { other.emplace(lock_of("other", 0)); });
  const Error error = thrown_by([&] { FolderLock(folder_, {.job = "job"}, &takes); });
  EXPECT_EQ(error.code(), ErrorCode::InvalidInput);
  EXPECT_THAT(error.message(), HasSubstr("are being written by process"));
  EXPECT_THAT(error.message(), HasSubstr("`trireme stop NAME` ends one"));
  EXPECT_NO_THROW(other->expect_held());
  other.reset();
  // A job that has released the lock again is no obstacle, nor is another epoch of the same job.
  InBetween goes([&] { lock_of("other", 0); });
  std::optional<FolderLock> own(std::in_place, folder_, FolderLock::Writer{.job = "job"}, &goes);
  EXPECT_THROW(lock_of("other", 0), Error);
  own.reset();
  InBetween joins([&] { other.emplace(lock_of("job", 0)); });
  EXPECT_NO_THROW(own.emplace(folder_, FolderLock::Writer{.job = "job", .epoch = 1}, &joins));
}

// The test itself is the frozen process of epoch 1, on another host.
TEST_F(FolderLockTest, ALaterEpochContinuesBesideAFrozenHolderOfTheLock) {
  lock_of("job", 1);
  const Descriptor frozen(::open((folder_ / ".lock").c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::flock(frozen.get(), LOCK_EX | LOCK_NB), 0);
  const FolderLock lock = lock_of("job", 2);
  fs::create_directory(folder_ / "one");
  EXPECT_TRUE(lock.move(folder_ / "one", lock.staged("one")));
  // Once the frozen process has ended, the lock keeps other jobs out.
  ASSERT_EQ(::flock(frozen.get(), LOCK_UN), 0);
  EXPECT_TRUE(lock.move(lock.staged("one"), folder_ / "one"));
  EXPECT_NE(::flock(frozen.get(), LOCK_EX | LOCK_NB), 0);
}

TEST_F(FolderLockTest, AJobThatTookOverTheFolderIsNotDisturbed) {
  lock_of("job", 1);
  Descriptor frozen(::open((folder_ / ".lock").c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::flock(frozen.get(), LOCK_EX | LOCK_NB), 0);
  const FolderLock lock = lock_of("job", 2);
  frozen.reset();
  const FolderLock other = lock_of("other", 0);
  const Error error = thrown_by([&] { lock.move(folder_ / "one", lock.staged("one")); });
  EXPECT_EQ(error.code(), ErrorCode::InvalidInput);
  EXPECT_NO_THROW(other.expect_held());
}

TEST_F(FolderLockTest, ALaterEpochTakesTheLockForGood) {
  std::optional<FolderLock> first(lock_of("job", 3));
  fs::create_directory(folder_ / "one");
  EXPECT_TRUE(first->move(folder_ / "one", first->staged("one")));
  EXPECT_FALSE(first->move(folder_ / "none", first->staged("none")));
  const fs::path stale = first->staged("one");
  std::optional<FolderLock> later(lock_of("job", 12));
  // The entries of the earlier epoch's stage are in the folder again, for the later epoch.
  EXPECT_TRUE(fs::exists(folder_ / "one"));
  for (const auto& [from, to] :
       {std::pair(folder_ / "one", first->staged("one")), std::pair(stale, folder_ / "two")}) {
    const Error error = thrown_by([&] { first->move(from, to); });
    EXPECT_EQ(error.code(), ErrorCode::Aborted);
    EXPECT_THAT(error.message(), HasSubstr("epoch 12 of this job"));
  }
  // The earlier epoch stays rejected after both locks are released, but another job may start at
  // any epoch.
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(thrown_by([&] { lock_of("job", 3); }).code(), ErrorCode::Aborted);
    first.reset();
    later.reset();
  }
  EXPECT_NO_THROW(lock_of("job", 12));
  EXPECT_NO_THROW(lock_of("next", 1));
  EXPECT_FALSE(fs::exists(folder_ / "two"));
}

// Limits the size of files in this process, like a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int) = std::signal(SIGXFSZ, SIG_IGN);
};

// Otherwise the next epoch of the job would be refused as another job.
TEST_F(FolderLockTest, AHolderWhoseNameCannotBeWrittenIsRefused) {
  lock_of("other", 0);
  for (const rlim_t bytes : {0, 5}) {
    std::optional<Error> error;
    try {
      const FileSizeLimit full(bytes);
      lock_of("job", 1);
    } catch (const Error& thrown) {
      error = thrown;
    }
    ASSERT_TRUE(error.has_value()) << "a name of " << bytes << " bytes";
    EXPECT_EQ(error->code(), ErrorCode::Exhausted);
    EXPECT_THAT(error->message(), HasSubstr("writing " + (folder_ / ".lock").string()));
    EXPECT_THAT(error->message(), HasSubstr("use another --output"));
  }
  EXPECT_NO_THROW(lock_of("job", 1));
}

TEST_F(FolderLockTest, RemainingEntriesOfAStageAreDeletedOrReturned) {
  {
    const FolderLock killed = lock_of("old", 1);
    for (const char* name : {".step-00000001.a.gone", "step-00000002.damaged"}) {
      fs::create_directory(killed.staged(name));
    }
    fs::create_directory(folder_ / "step-00000002.damaged");
  }
  const FolderLock next = lock_of("new", 0);
  EXPECT_TRUE(fs::exists(folder_ / "step-00000002.damaged-2"));
  EXPECT_FALSE(fs::exists(folder_ / ".step-00000001.a.gone"));
  EXPECT_FALSE(fs::exists(folder_ / ".writer.old.1"));
  EXPECT_THAT(names_in(next.staged("")), IsEmpty());
}

TEST_F(FolderLockTest, AManuallyDeletedStageIsReported) {
  const FolderLock lock = lock_of("job", 1);
  fs::remove(folder_ / ".writer.job.1");
  const Error error = thrown_by([&] { lock.move(folder_ / "one", lock.staged("one")); });
  EXPECT_EQ(error.code(), ErrorCode::Io);
  EXPECT_THAT(error.message(), HasSubstr(".writer.job.1 was removed"));
}

}  // namespace
}  // namespace trireme::checkpoint::format
