// Goal:   everything is written in order, a slow reader bounds the queue, and a reader that is gone
//         or never reads costs neither memory nor the launcher's time.
// Method: pipes as terminals; a reader that reads late, never, or closes.

#include "trireme/cluster/launch/output/writer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string>

#include "trireme/base/deadline.h"
#include "trireme/base/file/descriptor.h"

namespace trireme::cluster::launch::output {
namespace {

using namespace std::chrono_literals;

class WriterPipe : public ::testing::Test {
 protected:
  WriterPipe() {
    signal(SIGPIPE, SIG_IGN);
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    out_ = Descriptor(ends[0]);
    in_ = Descriptor(ends[1]);
  }

  template <class Condition>
  static bool wait_for(Writer& writer, Condition is_so) {
    const Deadline deadline = Deadline::after(10s);
    while (!is_so()) {
      if (deadline.is_past()) return false;
      pollfd event{.fd = writer.event(), .events = POLLIN, .revents = 0};
      poll(&event, 1, deadline.poll_timeout());
      writer.clear_event();
    }
    return true;
  }

  std::string read_bytes(std::size_t size) {
    std::string text(size, '\0');
    std::size_t done = 0;
    while (done < size) {
      const ssize_t more = read(out_.get(), text.data() + done, size - done);
      if (more <= 0) break;
      done += static_cast<std::size_t>(more);
    }
    text.resize(done);
    return text;
  }

  Descriptor out_, in_;
};

TEST_F(WriterPipe, WritesInOrder) {
  Writer writer;
  std::string expected;
  for (int i = 0; i < 1000; ++i) {
    const std::string line = std::to_string(i) + "\n";
    writer.push(in_.get(), line);
    expected += line;
  }
  EXPECT_TRUE(wait_for(writer, [&] { return writer.is_drained(); }));
  EXPECT_EQ(read_bytes(expected.size()), expected);
  EXPECT_EQ(writer.error(), 0);
}

TEST_F(WriterPipe, ASlowReaderBlocksTheWriterAndLosesNothing) {
  Writer writer(100'000);
  std::size_t pushed = 0;
  while (writer.has_room()) {
    writer.push(in_.get(), std::string(1000, 'x'));
    pushed += 1000;
    ASSERT_LT(pushed, 2'000'000u) << "no bound";
  }
  EXPECT_FALSE(writer.is_drained());
  EXPECT_EQ(read_bytes(pushed).size(), pushed);
  EXPECT_TRUE(wait_for(writer, [&] { return writer.has_room() && writer.is_drained(); }));
}

TEST_F(WriterPipe, AClosedReaderIsNoticed) {
  Writer writer;
  out_.reset();
  writer.push(in_.get(), "lost\n");
  EXPECT_TRUE(wait_for(writer, [&] { return writer.error() != 0; }));
  EXPECT_EQ(writer.error(), EPIPE);
  writer.push(in_.get(), std::string(5'000'000, 'x'));
  EXPECT_TRUE(wait_for(writer, [&] { return writer.has_room() && writer.is_drained(); }));
}

TEST_F(WriterPipe, AFullDiskDoesNotAffectTheOtherDescriptor) {
  const Descriptor full(open("/dev/full", O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(full);
  Writer writer;
  writer.push(full.get(), "lost\n");
  writer.push(in_.get(), "kept\n");
  EXPECT_TRUE(wait_for(writer, [&] { return writer.is_drained(); }));
  EXPECT_EQ(writer.error(), ENOSPC);
  EXPECT_EQ(read_bytes(5), "kept\n");
}

TEST_F(WriterPipe, AReaderThatNeverReadsDoesNotBlockTheLauncher) {
  {
    Writer writer;
    for (int i = 0; i < 20; ++i) writer.push(in_.get(), std::string(50'000, 'x'));
  }
  // The detached thread still uses the descriptor; once the reader is gone it ends by itself.
  [[maybe_unused]] const int lent = in_.release();
}

TEST_F(WriterPipe, WaitsForANonBlockingTerminal) {
  fcntl(in_.get(), F_SETFL, O_NONBLOCK);
  Writer writer;
  writer.push(in_.get(), std::string(300'000, 'x'));
  EXPECT_EQ(read_bytes(300'000).size(), 300'000u);
  EXPECT_TRUE(wait_for(writer, [&] { return writer.is_drained(); }));
}

}  // namespace
}  // namespace trireme::cluster::launch::output
