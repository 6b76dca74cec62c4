// Goal:   lines arrive complete and once; a sink that cannot write never blocks for long, throws or
//         kills the process.
// Method: pipes, closed pipes, full pipes, /dev/full; several threads on one sink.

#include "trireme/base/log.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <map>
#include <sstream>
#include <thread>

#include "trireme/base/clock.h"
#include "trireme/base/file/descriptor.h"

namespace trireme {
namespace {

using namespace std::chrono_literals;

struct Pipe {
  Pipe() {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    out = Descriptor(ends[0]);
    in = Descriptor(ends[1]);
  }

  // Everything that is in the pipe now.
  std::string drain() {
    ::fcntl(out.get(), F_SETFL, O_NONBLOCK);
    std::string all;
    char buffer[4096];
    for (ssize_t count; (count = ::read(out.get(), buffer, sizeof(buffer))) > 0;) {
      all.append(buffer, static_cast<std::size_t>(count));
    }
    return all;
  }

  void fill() {
    ::fcntl(in.get(), F_SETFL, O_NONBLOCK);
    const std::string block(4096, '.');
    while (::write(in.get(), block.data(), block.size()) > 0) {
    }
    ::fcntl(in.get(), F_SETFL, 0);
  }

  Descriptor out;
  Descriptor in;
};

TEST(Log, TextLinesContainTimeLevelEventAndFields) {
  Pipe pipe;
  const Log log(text_log(pipe.in.get()), LogLevel::Debug);
  log.warn("cores oversubscribed", {{"ranks", 8}, {"cores", 2}});
  log.debug("idle");
  EXPECT_THAT(pipe.drain(), ::testing::MatchesRegex(
                                "[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3} warn cores oversubscribed "
                                "ranks=8 cores=2\n[0-9:.]{12} debug idle\n"));
}

TEST(Log, EventsBelowTheLevelAreOmitted) {
  Pipe pipe;
  const Log log(text_log(pipe.in.get()), LogLevel::Warn);
  log.debug("a");
  log.info("b");
  EXPECT_EQ(pipe.drain(), "");
  log.warn("c");
  log.error("d");
  EXPECT_NE(pipe.drain().find("error d\n"), std::string::npos);
  EXPECT_EQ(name_of(LogLevel::Info), "info");
}

TEST(Log, WithoutASinkDiscards) {
  const Log log;
  log.error("discarded");
}

TEST(Log, LinesOfThreadsAreNeverMixed) {
  Pipe pipe;
  const Log log(text_log(pipe.in.get()), LogLevel::Info);
  constexpr int kThreads = 4;
  constexpr int kLines = 60;
  // Longer than PIPE_BUF, so that a line needs several writes.
  const std::size_t size = 6000;
  std::string text;
  std::jthread reader([&] {
    char buffer[8192];
    for (ssize_t count; (count = ::read(pipe.out.get(), buffer, sizeof(buffer))) > 0;) {
      text.append(buffer, static_cast<std::size_t>(count));
    }
  });
  {
    std::vector<std::jthread> writers;
    for (int i = 0; i < kThreads; ++i) {
      writers.emplace_back([&, i] {
        const std::string letters(size, static_cast<char>('a' + i));
        for (int line = 0; line < kLines; ++line) log.info("x", {{"letters", letters}});
      });
    }
  }
  pipe.in.reset();
  reader.join();
  std::map<char, int> counts;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::string letters = line.substr(line.find('=') + 1);
    ASSERT_EQ(letters.size(), size);
    ASSERT_EQ(letters.find_first_not_of(letters[0]), std::string::npos) << "mixed";
    ++counts[letters[0]];
  }
  for (int i = 0; i < kThreads; ++i) EXPECT_EQ(counts[static_cast<char>('a' + i)], kLines);
}

TEST(Log, AClosedPipeNeitherKillsNorThrows) {
  Pipe pipe;
  const Log log(text_log(pipe.in.get()), LogLevel::Info);
  pipe.out.reset();
  for (int i = 0; i < 3; ++i) log.info("not read");
}

TEST(Log, AFullDiskDropsTheLine) {
  const Descriptor full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(full);
  Log(text_log(full.get()), LogLevel::Info).info("no room");
  Log(text_log(-1), LogLevel::Info).info("no descriptor");
}

TEST(Log, AStalledReaderDelaysOnlyOneLine) {
  Pipe pipe;
  pipe.fill();
  const Log log(text_log(pipe.in.get()), LogLevel::Info);
  const TimePoint begin = steady_clock().now();
  for (int i = 0; i < 100; ++i) log.info("dropped");
  EXPECT_LT(steady_clock().now() - begin, 100 * 1s) << "each line waited its second";
  pipe.drain();
  log.info("heard again");
  const std::string text = pipe.drain();
  EXPECT_NE(text.find("info heard again\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("dropped"), std::string::npos);
}

TEST(Log, AnIncompleteLineDoesNotDamageTheNext) {
  Pipe pipe;
  const Log log(text_log(pipe.in.get()), LogLevel::Info);
  // Fills the pipe, so that the line is only partly written.
  log.info("long", {{"x", std::string(1 << 20, 'x')}});
  pipe.drain();
  log.info("next");
  EXPECT_THAT(pipe.drain(), ::testing::MatchesRegex("\n[0-9:.]{12} info next\n"));
}

}  // namespace
}  // namespace trireme
