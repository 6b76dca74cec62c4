// Goal:   no line is lost, torn or mixed with another, whatever ranks write and however slowly it
//         is read; when the reader leaves, the job ends.
// Method: eight ranks that write numbered lines as fast as they can; bytes of every value; readers
//         that stop, leave, and are terminals.

#include <signal.h>

#include <fstream>
#include <map>
#include <sstream>
#include <thread>
#include <utility>

#include "tests/folders.h"
#include "tests/process/job_fixture.h"

namespace trireme {
namespace {

class OutputTest : public JobTest {
 protected:
  static Command::Options flood(const Words& options, const std::string& mode) {
    Words words{program(), "run"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", build_folder() + "/tests/flood", mode});
    return {.command = words};
  }
  static long memory_of(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/status");
    std::string word;
    while (file >> word) {
      long size = 0;
      if (word == "VmHWM:" && file >> size) return size;  // KiB, the peak
    }
    return -1;
  }
};

TEST_F(OutputTest, LinesOfEightRanksAreNeverMixed) {
  constexpr int kRanks = 8;
  constexpr int kLines = 100'000;
  Command job(flood({"-n", "8"}, "100000"));
  EXPECT_EQ(job.wait_exit(Deadline::after(100s)), 0);
  std::map<int, int> next;
  std::istringstream lines(job.out());
  for (std::string line; std::getline(lines, line);) {
    int rank = -1;
    int number = -1;
    int length = 0;
    // "[3] line 17 of 3: xxx…", with number % 71 letters x.
    ASSERT_EQ(std::sscanf(line.c_str(), "[%d] line %d of %*d: %n", &rank, &number, &length), 2)
        << line;
    ASSERT_EQ(number, next[rank]) << line;
    ASSERT_EQ(line.substr(static_cast<std::size_t>(length)),
              std::string(static_cast<std::size_t>(number % 71), 'x'));
    ++next[rank];
  }
  ASSERT_EQ(next.size(), std::size_t{kRanks});
  for (const auto& [rank, count] : next) EXPECT_EQ(count, kLines) << rank;
}

TEST_F(OutputTest, AReaderThatLeavesEndsTheJob) {
  Command job(flood({"-n", "4"}, "forever"));
  job.wait_for_output("line 100 ", soon());
  job.close_output();
  EXPECT_EQ(job.wait_exit(soon()), 128 + SIGPIPE);
  EXPECT_THAT(job.error(), Not(HasSubstr("failed")));
}

TEST_F(OutputTest, HeadEndsTheJobAfterItsLines) {
  Command shell({.command = {"/bin/bash", "-c",
                             "set -o pipefail; " + build_folder() + "/trireme run -n 2 -- " +
                                 build_folder() + "/tests/flood forever | head -n 3"}});
  EXPECT_EQ(shell.wait_exit(soon()), 141);
  EXPECT_EQ(std::count(shell.out().begin(), shell.out().end(), '\n'), 3);
}

TEST_F(OutputTest, AReaderThatStopsBlocksTheRanksAndUsesNoMemory) {
  auto options = flood({"-n", "4", "--grace", "0.2"}, "forever");
  options.is_read = false;
  Command job(options);
  // The ranks write at full speed until every buffer in between is full.
  const pid_t launcher = [&] {
    while (true) {
      try {
        if (warden_of(job.pid()) > 0) return launcher_of(job);
      } catch (const Error&) {
        // Not yet.
      }
    }
  }();
  long last = -1;
  long now = memory_of(launcher);
  while (now != last) {
    std::this_thread::sleep_for(300ms);
    last = std::exchange(now, memory_of(launcher));
  }
#ifndef TRIREME_IS_SANITIZED
  EXPECT_LT(now, 64 * 1024) << "KiB";
#endif
  // A signal still takes effect, although the output cannot be written.
  job.signal(SIGINT);
  EXPECT_EQ(job.wait_exit(soon()), 130);
}

TEST_F(OutputTest, UnusualBytesPartialAndLongLinesAreForwarded) {
  Command job(script({}, "printf 'a\\000b\\377\\rc\\n'; printf '%070000d\\n' 7; printf end"));
  EXPECT_EQ(job.wait_exit(soon()), 0);
  const std::string& text = job.out();
  ASSERT_TRUE(text.starts_with(std::string("[0] a\0b\xff\rc\n", 11)));
  EXPECT_TRUE(text.ends_with("7\n[0] end\n"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '0'), 4 + 69999);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4) << "70000 bytes make two pieces";
}

TEST_F(OutputTest, StandardErrorIsForwardedToStandardError) {
  Command job(script({"-n", "2"}, "echo out; echo error >&2"));
  EXPECT_EQ(job.wait_exit(soon()), 0);
  EXPECT_THAT(job.out(), HasSubstr("[1] out\n"));
  EXPECT_THAT(job.out(), Not(HasSubstr("error")));
  EXPECT_THAT(job.error(), HasSubstr("[1] error\n"));
}

TEST_F(OutputTest, ATerminalGetsColoursUnlessDisabled) {
  auto options = script({}, "echo hi; printf '\\r10%%\\r20%%\\r100%%\\n'");
  options.is_terminal = true;
  options.environment = {{"TERM", "xterm"}, {"NO_COLOR", ""}};
  Command coloured(options);
  EXPECT_EQ(coloured.wait_exit(soon()), 0);
  EXPECT_THAT(coloured.out(), HasSubstr("\x1b[36m[0]\x1b[0m hi\r\n"));
  EXPECT_THAT(coloured.out(), HasSubstr("100%\r\n"));
  EXPECT_THAT(coloured.out(), Not(HasSubstr("20%"))) << "only some redraws are shown";
  options.environment["NO_COLOR"] = "1";
  Command plain(options);
  EXPECT_EQ(plain.wait_exit(soon()), 0);
  EXPECT_THAT(plain.out(), HasSubstr("[0] hi\r\n"));
  EXPECT_THAT(plain.out(), Not(HasSubstr("\x1b[3")));
}

TEST_F(OutputTest, AFullDiskIsReportedAndEndsTheJob) {
  Command shell({.command = {"/bin/sh", "-c",
                             build_folder() + "/trireme run -n 2 -- " + build_folder() +
                                 "/tests/flood forever > /dev/full"}});
  EXPECT_EQ(shell.wait_exit(soon()), 1);
  EXPECT_THAT(shell.error(), HasSubstr("the output cannot be written: No space left on device"));
}

TEST_F(OutputTest, TheJobRunsWithClosedStandardStreams) {
  Command shell({.command = {"/bin/sh", "-c",
                             build_folder() + "/trireme run -n 2 -- sh -c 'echo hi' <&- >&- 2>&-; "
                                              "echo code $?"}});
  EXPECT_EQ(shell.wait_exit(soon()), 0);
  EXPECT_EQ(shell.out(), "code 0\n");
}

}  // namespace
}  // namespace trireme
