// Goal:   an Outbox sends what fits, keeps the rest within its limit, and disconnects a caller that
//         lags.
// Method: a socket pair registered in the test's own epoll; the other end reads on command.

#include "trireme/net/outbox.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/base/file/descriptor.h"
#include "trireme/net/error_codec.h"

namespace trireme::net {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kOutputMax = 1 << 20;
constexpr std::size_t kPayload = 100'000;

class OutboxTest : public ::testing::Test {
 protected:
  OutboxTest() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    far_ = Socket(ends[1]);
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = 77;
    EXPECT_EQ(epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, ends[0], &event), 0);
    outbox_ = std::make_unique<Outbox>(Socket(ends[0]), Outbox::Options{.epoll = epoll_.get(),
                                                                        .tag = 77,
                                                                        .output_max = kOutputMax,
                                                                        .payload_max = kPayload,
                                                                        .requests_max = 3});
  }

  // The events that epoll reports now.
  std::uint32_t events() {
    epoll_event event{};
    return epoll_wait(epoll_.get(), &event, 1, 0) == 1 ? event.events : 0;
  }

  // All frames received so far.
  std::vector<Frame> read_all() {
    std::vector<Frame> out;
    std::array<std::byte, 65536> buffer;
    while (true) {
      const IoResult got = receive(far_, buffer);
      if (!got.has_moved()) return out;
      reader_.feed({buffer.data(), got.size});
      while (auto frame = reader_.next()) out.push_back(std::move(*frame));
    }
  }

  // Sends items until the kernel's buffer is full; it may still accept two or three.
  void fill() {
    while (wait_ready(outbox_->socket(), POLLOUT, Deadline::after(0s))) {
      ASSERT_TRUE(outbox_->send_item(1, 5, Bytes(kPayload)));
    }
  }

  const Descriptor epoll_{epoll_create1(EPOLL_CLOEXEC)};
  Socket far_;
  std::unique_ptr<Outbox> outbox_;
  FrameReader reader_;
};

TEST_F(OutboxTest, AnswersEachOpenRequestOnce) {
  EXPECT_EQ(outbox_->admit(1), Outbox::Admission::Admitted);
  EXPECT_EQ(outbox_->admit(1), Outbox::Admission::Repeated);
  EXPECT_TRUE(outbox_->send_item(1, 5, bytes_of("item")));
  EXPECT_FALSE(outbox_->send_item(2, 5, bytes_of("without a request")));
  outbox_->finish(1, FrameKind::End, 5, {});
  outbox_->finish(1, FrameKind::Reply, 5, bytes_of("too late"));
  EXPECT_FALSE(outbox_->send_item(1, 5, bytes_of("too late")));
  EXPECT_EQ(outbox_->admit(1), Outbox::Admission::Admitted) << "an id is free again once answered";

  const auto frames = read_all();
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0].kind, FrameKind::Item);
  EXPECT_EQ(frames[0].method, 5);
  EXPECT_EQ(text_of(frames[0].payload), "item");
  EXPECT_EQ(frames[1].kind, FrameKind::End);
}

TEST_F(OutboxTest, TooManyOpenRequestsAreRefused) {
  for (std::uint64_t id : {1, 2, 3}) EXPECT_EQ(outbox_->admit(id), Outbox::Admission::Admitted);
  EXPECT_EQ(outbox_->admit(4), Outbox::Admission::Full);
  outbox_->refuse(4, 5, bytes_of("full"));
  outbox_->cancel(2);
  EXPECT_EQ(outbox_->admit(4), Outbox::Admission::Admitted);
  const auto frames = read_all();
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0].kind, FrameKind::Failure);
  EXPECT_EQ(frames[1].kind, FrameKind::End) << "a cancel is confirmed";
  EXPECT_EQ(frames[1].id, 2u);
}

TEST_F(OutboxTest, BuffersWhileCorked) {
  outbox_->cork();
  for (std::uint64_t id : {1, 2, 3}) {
    outbox_->admit(id);
    outbox_->finish(id, FrameKind::Reply, 5, bytes_of("x"));
  }
  EXPECT_TRUE(read_all().empty());
  outbox_->uncork();
  EXPECT_EQ(read_all().size(), 3u);
}

TEST_F(OutboxTest, KeepsWhatDoesNotFitAndSendsItLater) {
  outbox_->admit(1);
  fill();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(outbox_->send_item(1, 5, Bytes(kPayload)));
  outbox_->finish(1, FrameKind::End, 5, {});
  std::size_t count = 0;
  bool is_ended = false;
  for (int round = 0; round < 1000 && !is_ended; ++round) {
    for (const Frame& frame : read_all()) {
      ++count;
      is_ended = frame.kind == FrameKind::End;
    }
    outbox_->flush();
  }
  EXPECT_TRUE(is_ended);
  EXPECT_GT(count, 6u);
  EXPECT_EQ(events(), 0u) << "an empty queue must not wake the loop";
}

TEST_F(OutboxTest, AStreamThatLagsIsDisconnected) {
  outbox_->admit(1);
  fill();
  int taken = 0;
  while (outbox_->send_item(1, 5, Bytes(kPayload))) ASSERT_LT(++taken, 15);
  EXPECT_GE(taken, 8) << "the bound is a mebibyte";
  EXPECT_NE(outbox_->cut_reason().find("too slowly"), std::string::npos);
  EXPECT_NE(events() & EPOLLHUP, 0u) << "the loop must be notified of the disconnect";
  EXPECT_FALSE(outbox_->send_item(1, 5, {}));
}

TEST_F(OutboxTest, RepliesMayExceedTheLimitByOnePayload) {
  outbox_->admit(1);
  outbox_->admit(2);
  fill();
  while (!outbox_->is_congested()) {
    outbox_->finish(2, FrameKind::Reply, 5, Bytes(kPayload));
    outbox_->admit(2);
  }
  EXPECT_TRUE(outbox_->cut_reason().empty());
  for (int i = 0; i < 3; ++i) {
    outbox_->finish(2, FrameKind::Reply, 5, Bytes(kPayload));
    outbox_->admit(2);
  }
  EXPECT_FALSE(outbox_->cut_reason().empty());
}

TEST_F(OutboxTest, AnItemLargerThanTheLimitIsSentWhenTheQueueIsEmpty) {
  outbox_->admit(1);
  EXPECT_TRUE(outbox_->send_item(1, 5, Bytes(4 * kOutputMax)));
  EXPECT_FALSE(outbox_->send_item(1, 5, {})) << "and the next one does not";
}

TEST_F(OutboxTest, WhilePausedItWakesOnlyForWriting) {
  ASSERT_TRUE(send(far_, bytes_of("request")).has_moved());
  EXPECT_EQ(events(), std::uint32_t{EPOLLIN});
  outbox_->pause(true);
  EXPECT_EQ(events(), std::uint32_t{EPOLLOUT});
  outbox_->pause(false);
  EXPECT_EQ(events(), std::uint32_t{EPOLLIN});
}

TEST_F(OutboxTest, APayloadBeyondTheFormatBecomesAFailure) {
  outbox_->admit(1);
  outbox_->finish(1, FrameKind::Reply, 5, Bytes(kPayloadMax + 1));
  const auto frames = read_all();
  ASSERT_EQ(frames.size(), 1u);
  ASSERT_EQ(frames[0].kind, FrameKind::Failure);
  EXPECT_EQ(decode_error(frames[0].payload).code(), ErrorCode::Exhausted);
}

TEST_F(OutboxTest, AfterCloseEveryCallDoesNothing) {
  outbox_->admit(1);
  outbox_->close();
  EXPECT_FALSE(outbox_->send_item(1, 5, {}));
  outbox_->finish(1, FrameKind::Reply, 5, {});
  outbox_->refuse(1, 5, {});
  outbox_->flush();
  outbox_->pause(true);
  std::byte probe;
  EXPECT_EQ(receive(far_, {&probe, 1}).reason(), "it closed the connection");
}

}  // namespace
}  // namespace trireme::net
