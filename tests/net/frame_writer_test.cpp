// Goal:   frames of several threads are never interleaved, and a deadline in the middle of a frame
//         leaves a valid byte stream.
// Method: a socket pair whose other end reads on the test's command, through a FrameReader.

#include "trireme/net/frame_writer.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <thread>
#include <vector>

#include "trireme/base/error.h"

namespace trireme::net {
namespace {

using namespace std::chrono_literals;

class FrameWriterTest : public ::testing::Test {
 protected:
  FrameWriterTest() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    near_ = Socket(ends[0]);
    far_ = Socket(ends[1]);
  }

  void write(std::uint64_t id, std::size_t size, Deadline deadline) {
    const Bytes payload(size, static_cast<std::byte>(id));
    writer_.send(encode_header(FrameKind::Post, 1, id, size), payload, deadline,
                 [this](Deadline until) { wait_ready(near_, POLLOUT, until); });
  }

  // Reads until `count` complete frames arrived; each must consist of its own byte.
  std::map<std::uint64_t, std::size_t> read(std::size_t count) {
    std::map<std::uint64_t, std::size_t> out;
    std::array<std::byte, 10'000> buffer;
    while (out.size() < count) {
      const IoResult got = receive(far_, buffer);
      if (got.must_wait() && wait_ready(far_, POLLIN, Deadline::after(10s))) continue;
      if (!got.has_moved()) break;
      reader_.feed({buffer.data(), got.size});
      while (auto frame = reader_.next()) {
        for (std::byte each : frame->payload) EXPECT_EQ(each, static_cast<std::byte>(frame->id));
        out[frame->id] = frame->payload.size();
      }
    }
    return out;
  }

  ErrorCode code_of(const std::function<void()>& body) {
    try {
      body();
    } catch (const Error& error) {
      return error.code();
    }
    ADD_FAILURE() << "nothing was thrown";
    return ErrorCode::Misuse;
  }

  Socket near_;
  Socket far_;
  FrameWriter writer_{near_};
  FrameReader reader_;
};

TEST_F(FrameWriterTest, FramesOfSeveralThreadsAreNotInterleaved) {
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([this, t] {
      for (std::uint64_t i = 0; i < 50; ++i) write(t * 50 + i, 1 + i * 997, Deadline::after(10s));
    });
  }
  const auto sizes = read(200);
  for (auto& thread : threads) thread.join();
  ASSERT_EQ(sizes.size(), 200u);
  for (const auto& [id, size] : sizes) EXPECT_EQ(size, 1 + id % 50 * 997);
}

TEST_F(FrameWriterTest, ADeadlineWithinAFrameKeepsTheStreamValid) {
  const TimePoint begun = steady_clock().now();
  EXPECT_EQ(code_of([&] { write(1, 5'000'000, Deadline::after(100ms)); }), ErrorCode::Deadline);
  EXPECT_GE(steady_clock().now() - begun, 100ms);
  // No byte of the second frame could be sent, so it is dropped; the first was partly sent, so it
  // is completed.
  EXPECT_EQ(code_of([&] { write(2, 10, Deadline::after(10ms)); }), ErrorCode::Deadline);
  writer_.send_soon(encode_header(FrameKind::Cancel, 1, 4, 0));
  std::thread third([&] { write(3, 10, Deadline::after(10s)); });
  const auto sizes = read(3);
  third.join();
  EXPECT_EQ(sizes, (std::map<std::uint64_t, std::size_t>{{1, 5'000'000}, {3, 10}, {4, 0}}));
}

TEST_F(FrameWriterTest, WaitingForAnotherWriterEndsAtTheDeadline) {
  std::thread first([&] {
    EXPECT_EQ(code_of([&] { write(1, 5'000'000, Deadline::after(300ms)); }), ErrorCode::Deadline);
  });
  while (!wait_ready(far_, POLLIN, Deadline::after(10s))) {
  }
  EXPECT_EQ(code_of([&] { write(2, 1, Deadline::after(50ms)); }), ErrorCode::Deadline);
  writer_.send_soon(encode_header(FrameKind::Cancel, 1, 9, 0));
  first.join();
  std::thread third([&] { write(3, 1, Deadline::after(10s)); });
  const auto sizes = read(3);
  third.join();
  EXPECT_EQ(sizes, (std::map<std::uint64_t, std::size_t>{{1, 5'000'000}, {3, 1}, {9, 0}}));
}

TEST_F(FrameWriterTest, AClosedEndIsPeerLost) {
  far_.close();
  EXPECT_EQ(code_of([&] { write(1, 1, Deadline::after(10s)); }), ErrorCode::PeerLost);
  writer_.send_soon(encode_header(FrameKind::Cancel, 1, 1, 0));
}

}  // namespace
}  // namespace trireme::net
