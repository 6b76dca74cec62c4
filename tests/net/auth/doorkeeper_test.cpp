// Goal:   each way of failing authentication has its own counter, and members connect despite many
//         strangers.
// Method: a Doorkeeper driven by the test's own epoll; raw strangers over loopback.

#include "trireme/net/auth/doorkeeper.h"

#include <gtest/gtest.h>
#include <sys/epoll.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/net/raw_peer.h"
#include "trireme/net/auth/secret_credentials.h"

namespace trireme::net {
namespace {

using namespace std::chrono_literals;

const Secret kSecret = Secret::generate();

class DoorkeeperTest : public ::testing::Test {
 protected:
  void open(std::chrono::milliseconds timeout, std::chrono::milliseconds grace,
            std::size_t strangers_max) {
    keeper_ = std::make_unique<Doorkeeper>(
        Address::tcp("127.0.0.1", 0),
        Doorkeeper::Rules{.credentials = std::make_shared<SecretCredentials>(kSecret, "server"),
                          .handshake_timeout = timeout,
                          .grace = grace,
                          .strangers_max = strangers_max},
        epoll_.get(), Log());
  }

  // Runs the server's loop until `condition` holds or ten seconds have passed.
  bool run_until(const std::function<bool()>& condition) {
    const Deadline deadline = Deadline::after(10s);
    while (!condition()) {
      if (deadline.is_past()) return false;
      epoll_event events[16];
      const Deadline next = min(keeper_->next_deadline(), Deadline::after(5ms));
      const int count = epoll_wait(epoll_.get(), events, 16, next.poll_timeout());
      bool somebody_knocks = false;
      for (int i = 0; i < count; ++i) {
        const std::uint64_t tag = events[i].data.u64;
        if (tag == Doorkeeper::kListenerTag) somebody_knocks = true;
        if (!keeper_->has_stranger(tag)) continue;
        if (auto guest = keeper_->on_stranger(tag, has_room_)) guests_.push_back(std::move(*guest));
      }
      if (somebody_knocks) keeper_->on_listener();
      keeper_->on_time();
    }
    return true;
  }

  const Doorkeeper::Counters& counters() const { return keeper_->counters(); }

  const Descriptor epoll_{epoll_create1(EPOLL_CLOEXEC)};
  std::unique_ptr<Doorkeeper> keeper_;
  std::vector<Doorkeeper::Guest> guests_;
  bool has_room_ = true;
};

TEST_F(DoorkeeperTest, AdmitsAMemberWithItsFirstBytes) {
  open(10s, 1s, 8);
  RawPeer peer(keeper_->address());
  const auto handshake = SecretCredentials(kSecret, "rank 1").begin(Side::Client, "for a test");
  peer.say(handshake->take_output());
  bool is_sent = false;
  EXPECT_TRUE(run_until([&] {
    if (!is_sent) {
      const Bytes proof = peer.hear(Deadline::after(0s));
      if (!proof.empty()) {
        handshake->feed(proof);
        Bytes answer = handshake->take_output();
        for (std::byte each : bytes_of("first")) answer.push_back(each);
        is_sent = peer.say(answer);
      }
    }
    return guests_.size() == 1;
  }));
  EXPECT_EQ(guests_[0].identity.name, "rank 1");
  EXPECT_EQ(guests_[0].identity.purpose, "for a test");
  EXPECT_EQ(text_of(guests_[0].rest), "first");
  EXPECT_EQ(counters().connections, 1u);
  EXPECT_EQ(counters().refused + counters().timed_out + counters().crowded_out, 0u);
  handshake->feed(peer.hear());
  EXPECT_TRUE(handshake->is_done());
}

TEST_F(DoorkeeperTest, WithoutRoomAMemberIsNotAdmitted) {
  open(10s, 1s, 8);
  has_room_ = false;
  RawPeer peer(keeper_->address());
  const auto handshake = SecretCredentials(kSecret, "rank 1").begin(Side::Client);
  peer.say(handshake->take_output());
  EXPECT_TRUE(run_until([&] {
    const Bytes heard = peer.hear(Deadline::after(0s));
    if (!heard.empty()) {
      handshake->feed(heard);
      peer.say(handshake->take_output());
    }
    return counters().crowded_out == 1;
  }));
  EXPECT_FALSE(handshake->is_done());
  EXPECT_TRUE(peer.is_hung_up_by(Deadline::after(60s)));
}

TEST_F(DoorkeeperTest, GarbageAndGoodbyesAreRefused) {
  open(10s, 1s, 8);
  RawPeer garbage(keeper_->address());
  garbage.say(bytes_of("GET / HTTP/1.1\r\n\r\n"));
  {
    RawPeer gone(keeper_->address());
  }
  {
    RawPeer reset(keeper_->address());
    reset.say(bytes_of("TR"));
    reset.reset_on_close();
  }
  EXPECT_TRUE(run_until([&] { return counters().refused == 3; }));
  EXPECT_TRUE(garbage.is_hung_up_by(Deadline::after(60s)));
  EXPECT_EQ(counters().connections, 3u);
}

TEST_F(DoorkeeperTest, SlowStrangersTimeOut) {
  open(100ms, 1s, 8);
  RawPeer silent(keeper_->address());
  RawPeer slow(keeper_->address());
  const TimePoint begun = steady_clock().now();
  const std::string hello("TRH\0\1 one byte at a time, as slowly as can be", 46);
  std::size_t said = 0;
  EXPECT_TRUE(run_until([&] {
    if (said < 30) slow.say(bytes_of(hello).subspan(said++, 1));
    return counters().timed_out == 2;
  }));
  EXPECT_GE(steady_clock().now() - begun, 99ms);
  EXPECT_TRUE(silent.is_hung_up_by(Deadline::after(60s)));
  EXPECT_TRUE(slow.is_hung_up_by(Deadline::after(60s)));
}

TEST_F(DoorkeeperTest, TheOldestStrangersAreClosedAfterTheirGraceTime) {
  open(10s, 200ms, 4);
  const TimePoint begun = steady_clock().now();
  std::vector<RawPeer> silent;
  for (int i = 0; i < 6; ++i) silent.emplace_back(keeper_->address());
  EXPECT_TRUE(run_until([&] { return counters().connections == 4; }));
  EXPECT_EQ(counters().crowded_out, 0u);
  EXPECT_TRUE(run_until([&] { return counters().connections == 6; }));
  EXPECT_GE(steady_clock().now() - begun, 199ms);
  EXPECT_EQ(counters().crowded_out, 2u);
  EXPECT_TRUE(silent[0].is_hung_up_by(Deadline::after(60s)));
  EXPECT_TRUE(silent[1].is_hung_up_by(Deadline::after(60s)));
  EXPECT_FALSE(silent[5].is_hung_up_by(Deadline::after(0s)));
  // No new connection arrives, so no further stranger is closed.
  const Deadline later = Deadline::after(300ms);
  run_until([&] { return later.is_past(); });
  EXPECT_EQ(counters().crowded_out, 2u);
}

TEST_F(DoorkeeperTest, AFreePlaceIsReusedAtOnce) {
  open(10s, 10s, 2);
  std::vector<RawPeer> silent;
  for (int i = 0; i < 3; ++i) silent.emplace_back(keeper_->address());
  EXPECT_TRUE(run_until([&] { return counters().connections == 2; }));
  silent.erase(silent.begin());
  EXPECT_TRUE(run_until([&] { return counters().connections == 3; }));
  EXPECT_EQ(counters().refused, 1u);
  EXPECT_EQ(counters().crowded_out, 0u);
}

}  // namespace
}  // namespace trireme::net
