// Goal:   a Session dispatches requests to services, pauses while its caller does not read, and is
//         closed for invalid bytes.
// Method: a socket pair without handshake; the test is both the loop and the other end.

#include "trireme/net/session.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <vector>

#include "tests/net/rig.h"
#include "trireme/base/file/descriptor.h"
#include "trireme/net/error_codec.h"

namespace trireme::net {
namespace {

constexpr std::size_t kOutputMax = 200'000;

class SessionTest : public ::testing::Test {
 protected:
  SessionTest() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
    far_ = Socket(ends[1]);
    epoll_event event{};
    event.events = EPOLLIN;
    EXPECT_EQ(epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, ends[0], &event), 0);
    services_[7] = service_;
    auto outbox = std::make_shared<Outbox>(
        Socket(ends[0]),
        Outbox::Options{
            .epoll = epoll_.get(), .tag = 0, .output_max = kOutputMax, .payload_max = 100'000});
    session_ =
        std::make_unique<Session>(9, Identity{.name = "rank 1"}, outbox, services_, 100'000, Log());
  }

  void say(const Frame& frame) {
    ASSERT_EQ(send(far_, encode(frame)).size, 20 + frame.payload.size());
  }

  // Runs one iteration of the loop; returns nothing if there was no event.
  std::optional<Session::State> turn() {
    epoll_event event{};
    if (epoll_wait(epoll_.get(), &event, 1, 0) != 1) return std::nullopt;
    return session_->on_event(event.events, scratch_);
  }

  std::vector<Frame> hear() {
    std::vector<Frame> out;
    std::array<std::byte, 65536> buffer;
    while (true) {
      const IoResult got = receive(far_, buffer);
      if (!got.has_moved()) return out;
      reader_.feed({buffer.data(), got.size});
      while (auto frame = reader_.next()) out.push_back(std::move(*frame));
    }
  }

  const Descriptor epoll_{epoll_create1(EPOLL_CLOEXEC)};
  const std::shared_ptr<EchoService> service_ = std::make_shared<EchoService>();
  ServiceTable services_;
  Socket far_;
  std::unique_ptr<Session> session_;
  std::array<std::byte, 4096> scratch_;
  FrameReader reader_;
};

TEST_F(SessionTest, BytesReceivedWithTheHandshakeAreServedFirst) {
  Bytes rest = encode({FrameKind::Request, kEcho, 1, to_bytes("a")});
  EXPECT_EQ(session_->start(rest), Session::State::Open);
  say({FrameKind::Request, kWho, 2, {}});
  EXPECT_EQ(turn(), Session::State::Open);
  const auto frames = hear();
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(text_of(frames[0].payload), "a");
  EXPECT_EQ(text_of(frames[1].payload), "rank 1");
  EXPECT_EQ(frames[1].method, kWho);
}

TEST_F(SessionTest, FramesThatOnlyServersSendCloseTheSession) {
  for (FrameKind kind : {FrameKind::Reply, FrameKind::Item, FrameKind::End, FrameKind::Failure}) {
    SCOPED_TRACE(static_cast<int>(kind));
    EXPECT_EQ(session_->start(encode({kind, kEcho, 1, {}})), Session::State::Cut);
    EXPECT_NE(session_->reason().find("only servers send"), std::string::npos);
  }
}

TEST_F(SessionTest, ARepeatedIdClosesTheSession) {
  say({FrameKind::Request, kHold, 1, {}});
  EXPECT_EQ(turn(), Session::State::Open);
  say({FrameKind::Request, kHold, 1, {}});
  EXPECT_EQ(turn(), Session::State::Cut);
  EXPECT_NE(session_->reason().find("is in use"), std::string::npos);
}

TEST_F(SessionTest, GarbageAndOversizedFramesCloseTheSession) {
  EXPECT_EQ(session_->start(bytes_of("this is not a frame at all")), Session::State::Cut);
  ASSERT_TRUE(send(far_, encode_header(FrameKind::Request, 1, 1, 100'001)).has_moved());
  EXPECT_EQ(turn(), Session::State::Cut);
}

TEST_F(SessionTest, AnIncompleteFrameIsServedOnceComplete) {
  const Bytes wire = encode({FrameKind::Request, kEcho, 1, Bytes(1000)});
  ASSERT_TRUE(send(far_, ByteView(wire).first(500)).has_moved());
  EXPECT_EQ(turn(), Session::State::Open);
  EXPECT_EQ(service_->requests, 0);
  ASSERT_TRUE(send(far_, ByteView(wire).subspan(500)).has_moved());
  EXPECT_EQ(turn(), Session::State::Open);
  EXPECT_EQ(hear().size(), 1u);
}

TEST_F(SessionTest, AHangUpWithinAFrameIsADeparture) {
  ASSERT_TRUE(send(far_, encode_header(FrameKind::Request, 1, 1, 1000)).has_moved());
  far_.close();
  EXPECT_EQ(turn(), Session::State::Open) << "what came before the hang-up is read first";
  EXPECT_EQ(turn(), Session::State::Left);
}

TEST_F(SessionTest, StopsReadingWhileItsAnswersAreUnread) {
  // Sends requests until none are accepted: the other end never reads, so the session must stop
  // reading.
  std::uint64_t sent = 0;
  Bytes rest;
  const auto say_more = [&] {
    while (true) {
      if (rest.empty()) rest = encode({FrameKind::Request, kEcho, ++sent, Bytes(50'000)});
      const IoResult moved = send(far_, rest);
      if (!moved.has_moved()) return;
      rest.erase(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(moved.size));
    }
  };
  for (int quiet = 0; quiet < 50; ++quiet) {
    say_more();
    while (turn().has_value()) {
      say_more();
      quiet = 0;
      ASSERT_LT(sent, 200u) << "the server still reads although its answers are unread";
    }
  }
  const int served_before = service_->requests;
  EXPECT_GT(served_before, 3);

  // Once the other end reads, all its requests are answered, in order.
  std::uint64_t answered = 0;
  const Deadline deadline = soon();
  while (answered + 1 < sent && !deadline.is_past()) {
    for (const Frame& frame : hear()) EXPECT_EQ(frame.id, ++answered);
    (void)turn();
  }
  EXPECT_EQ(answered + 1, sent) << "the last request was not sent completely";
}

TEST_F(SessionTest, HandlesOutliveTheSession) {
  say({FrameKind::Request, kHold, 1, {}});
  EXPECT_EQ(turn(), Session::State::Open);
  const auto caller = service_->held().at(0);
  session_.reset();
  EXPECT_FALSE(caller->send_item(bytes_of("x")));
  caller->reply(bytes_of("x"));
  EXPECT_TRUE(hear().empty());
}

}  // namespace
}  // namespace trireme::net
