// Goal:   a file is replaced completely or not at all, and nothing stays behind.
// Method: real files; a writer that is killed at its fault points (a forked child that kills
//         itself), and a live writer during a sweep.

#include "trireme/base/file/file.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <thread>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/base/file/temporary_folder.h"

namespace trireme {
namespace {

namespace fs = std::filesystem;

ErrorCode code_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.code();
  }
  ADD_FAILURE() << "nothing was thrown";
  return ErrorCode::Misuse;
}

std::size_t files_in(const fs::path& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

class KillAt : public Faults {
 public:
  explicit KillAt(FaultPoint point) : point_(point) {}
  void reached(FaultPoint point, int) override {
    if (point == point_) ::raise(SIGKILL);
  }

 private:
  FaultPoint point_;
};

// Creates what a process leaves if it is killed at `point` while it replaces `path`.
void write_and_die(const fs::path& path, FaultPoint point) {
  const pid_t child = ::fork();
  if (child == 0) {
    KillAt kill(point);
    write_file_atomically(path, "new", {.faults = &kill});
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "the point was not reached";
}

class WholeFile : public ::testing::Test {
 protected:
  const TemporaryFolder folder_{"file-test"};
  const fs::path path_ = folder_.path() / "a file";
};

TEST_F(WholeFile, ReadsWhatWasWritten) {
  for (std::size_t size : {0, 1, 3, 4095, 4096, 4097, 1'000'003}) {
    std::string content(size, '\0');
    for (std::size_t i = 0; i < size; ++i) content[i] = static_cast<char>(i * 131 % 251);
    write_file_atomically(path_, content);
    EXPECT_EQ(read_file(path_), content) << size;
    EXPECT_EQ(files_in(folder_.path()), 1u);
  }
}

TEST_F(WholeFile, ReadsFilesThatReportNoSize) {
  EXPECT_NE(read_file("/proc/self/status").find("Name:"), std::string::npos);
}

TEST_F(WholeFile, BoundsTheSizeThatItReads) {
  write_file_atomically(path_, std::string(10, 'x'));
  EXPECT_EQ(read_file(path_, 10).size(), 10u);
  EXPECT_EQ(code_of([&] { read_file(path_, 9); }), ErrorCode::Exhausted);
  EXPECT_EQ(code_of([&] { read_file("/proc/self/status", 9); }), ErrorCode::Exhausted);
}

TEST_F(WholeFile, ReportsFilesThatCannotBeRead) {
  EXPECT_EQ(code_of([&] { read_file(path_); }), ErrorCode::NotFound);
  EXPECT_EQ(code_of([&] { read_file(folder_.path()); }), ErrorCode::InvalidInput);
  EXPECT_EQ(code_of([&] { read_file("/dev/zero"); }), ErrorCode::InvalidInput);
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_EQ(code_of([&] { read_file(path_); }), ErrorCode::InvalidInput) << "a pipe would block";
}

TEST_F(WholeFile, ReportsFilesThatCannotBeWritten) {
  EXPECT_EQ(code_of([&] { write_file_atomically("/no/such/folder/x", "x"); }), ErrorCode::Io);
  EXPECT_EQ(code_of([&] { write_file_atomically(folder_.path() / "", "x"); }),
            ErrorCode::InvalidInput);
  // A folder exists at the path of the file: the rename fails after the content was written.
  fs::create_directory(path_);
  EXPECT_EQ(code_of([&] { write_file_atomically(path_, "x"); }), ErrorCode::Io);
  EXPECT_EQ(files_in(folder_.path()), 1u) << "the temporary file was not removed";
}

TEST_F(WholeFile, HasTheModeItWasGiven) {
  write_file_atomically(path_, "secret", {.mode = 0600});
  struct stat status{};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(WholeFile, AWriterKilledBeforeTheRenameLeavesTheOldContent) {
  write_file_atomically(path_, "old");
  write_and_die(path_, kFileWritten);
  EXPECT_EQ(read_file(path_), "old");
  EXPECT_EQ(files_in(folder_.path()), 2u) << "the killed writer left its temporary file";
  EXPECT_EQ(sweep_temporary_files(folder_.path()), 1);
  EXPECT_EQ(files_in(folder_.path()), 1u);
}

TEST_F(WholeFile, AWriterKilledAfterTheRenameLeavesTheNewContent) {
  write_file_atomically(path_, "old");
  write_and_die(path_, kFileRenamed);
  EXPECT_EQ(read_file(path_), "new");
  EXPECT_EQ(sweep_temporary_files(folder_.path()), 0);
  EXPECT_EQ(files_in(folder_.path()), 1u);
}

// Sweeps while a writer of the same process is at its fault point.
class SweepAt : public Faults {
 public:
  explicit SweepAt(fs::path folder) : folder_(std::move(folder)) {}
  void reached(FaultPoint, int) override { swept += sweep_temporary_files(folder_); }
  int swept = 0;

 private:
  fs::path folder_;
};

TEST_F(WholeFile, SweepingKeepsFilesOfLiveWritersAndOtherFiles) {
  SweepAt sweep(folder_.path());
  write_file_atomically(path_, "x", {.faults = &sweep});
  write_file_atomically(folder_.path() / ".hidden", "x");
  write_file_atomically(folder_.path() / "x.trireme-tmp", "x");
  EXPECT_EQ(sweep.swept, 0);
  EXPECT_EQ(sweep_temporary_files(folder_.path()), 0);
  EXPECT_EQ(files_in(folder_.path()), 3u);
  EXPECT_EQ(sweep_temporary_files("/no/such/folder"), 0);
}

TEST_F(WholeFile, WritersSweepersAndReadersDoNotDisturbEachOther) {
  write_file_atomically(path_, std::string(5000, 'a'));
  std::vector<std::jthread> threads;
  for (char letter : {'a', 'b'}) {
    threads.emplace_back([this, letter] {
      for (int i = 0; i < 100; ++i) write_file_atomically(path_, std::string(5000, letter));
    });
  }
  threads.emplace_back([this] {
    for (int i = 0; i < 300; ++i) sweep_temporary_files(folder_.path());
  });
  for (int i = 0; i < 300; ++i) {
    const std::string content = read_file(path_);
    ASSERT_EQ(content.size(), 5000u);
    ASSERT_EQ(content.find_first_not_of(content[0]), std::string::npos) << "a mixture";
  }
  threads.clear();
  EXPECT_EQ(files_in(folder_.path()), 1u);
}

}  // namespace
}  // namespace trireme
