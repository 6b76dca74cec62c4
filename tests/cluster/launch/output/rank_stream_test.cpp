// Goal:   a rank's output arrives with its number before each line, unchanged in its log, and in
//         the tail for a later report.
// Method: pipes at both ends.

#include "trireme/cluster/launch/output/rank_stream.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <chrono>

#include "trireme/base/deadline.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"

namespace trireme::cluster::launch::output {
namespace {

using namespace std::chrono_literals;

struct Pipe {
  Pipe() {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    out = Descriptor(ends[0]);
    in = Descriptor(ends[1]);
  }
  void write_text(std::string_view text) const {
    EXPECT_EQ(write(in.get(), text.data(), text.size()), std::ssize(text));
  }
  Descriptor out, in;
};

void drain(Writer& writer) {
  const Deadline deadline = Deadline::after(10s);
  while (!writer.is_drained() && !deadline.is_past()) {
    pollfd event{.fd = writer.event(), .events = POLLIN, .revents = 0};
    poll(&event, 1, deadline.poll_timeout());
    writer.clear_event();
  }
}

std::string contents(const Descriptor& pipe) {
  std::array<char, 4096> buffer;
  const ssize_t size = ::read(pipe.get(), buffer.data(), buffer.size());
  return size > 0 ? std::string(buffer.data(), static_cast<std::size_t>(size)) : "";
}

TEST(RankStream, PrefixesCompleteLinesAndKeepsTheTail) {
  const TemporaryFolder folder("rank-stream-test");
  const auto log_path = folder.path() / "rank-2.log";
  const Descriptor log(open(log_path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  Pipe rank;
  Pipe screen;
  Writer writer;
  Tail tail;
  RankStream stream({.pipe = std::move(rank.out),
                     .target = screen.in.get(),
                     .prefix = "[2] ",
                     .is_terminal = false,
                     .tail = &tail,
                     .log = log.get()});
  EXPECT_FALSE(stream.pump({}, writer)) << "nothing there yet";
  rank.write_text("hello\nwor");
  EXPECT_TRUE(stream.pump({}, writer));
  drain(writer);
  EXPECT_EQ(contents(screen.out), "[2] hello\n");
  rank.write_text("ld\nlast");
  EXPECT_TRUE(stream.pump({}, writer));
  rank.in.reset();
  EXPECT_TRUE(stream.pump({}, writer));
  EXPECT_FALSE(stream.is_open());
  EXPECT_FALSE(stream.pump({}, writer));
  drain(writer);
  EXPECT_EQ(contents(screen.out), "[2] world\n[2] last\n");
  EXPECT_EQ(tail.lines(), (std::deque<std::string>{"hello", "world", "last"}));
  EXPECT_EQ(read_file(log_path), "hello\nworld\nlast");
  EXPECT_EQ(stream.log_error(), 0);
}

TEST(RankStream, FinishingEarlyFlushesAndIsIdempotent) {
  Pipe rank;
  Pipe screen;
  Writer writer;
  RankStream stream({.pipe = std::move(rank.out), .target = screen.in.get(), .prefix = "[0] "});
  rank.write_text("half");
  stream.pump({}, writer);
  stream.finish(writer);
  stream.finish(writer);
  drain(writer);
  EXPECT_EQ(contents(screen.out), "[0] half\n");
}

TEST(RankStream, OnAFullDiskOnlyTheLogIsLost) {
  const Descriptor full(open("/dev/full", O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(full);
  Pipe rank;
  Pipe screen;
  Writer writer;
  RankStream stream({.pipe = std::move(rank.out),
                     .target = screen.in.get(),
                     .prefix = "[0] ",
                     .is_terminal = false,
                     .tail = nullptr,
                     .log = full.get()});
  rank.write_text("hello\n");
  EXPECT_TRUE(stream.pump({}, writer));
  drain(writer);
  EXPECT_EQ(contents(screen.out), "[0] hello\n");
  EXPECT_EQ(stream.log_error(), ENOSPC);
}

TEST(RankStream, ColoursDependOnTheRank) {
  EXPECT_EQ(prefix_of(12, false), "[12] ");
  EXPECT_EQ(prefix_of(0, true), "\x1b[36m[0]\x1b[0m ");
  EXPECT_NE(prefix_of(0, true), prefix_of(1, true));
}

}  // namespace
}  // namespace trireme::cluster::launch::output
