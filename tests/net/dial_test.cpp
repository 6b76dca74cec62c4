// Goal:   dial() distinguishes a wrong secret, a foreign server, a silent server and an absent one,
//         and retries only if a later attempt may succeed.
// Method: listeners that each misbehave in one way; elapsed times.

#include "trireme/net/dial.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "tests/net/raw_peer.h"
#include "tests/net/rig.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/net/listener.h"

namespace trireme::net {
namespace {

const SecretCredentials kMe(Secret::generate(), "me");

struct Outcome {
  Error error;
  Duration elapsed;
};

Outcome fail_to_dial(const Address& address, Duration timeout) {
  const TimePoint begun = steady_clock().now();
  Error error = error_of([&] { dial(address, kMe, Deadline::after(timeout)); });
  return {.error = std::move(error), .elapsed = steady_clock().now() - begun};
}

// Accepts one connection at a time and passes each to `body`, until destroyed.
class Misbehaving {
 public:
  explicit Misbehaving(std::function<void(RawPeer&)> body)
      : thread_([this, body = std::move(body)] {
          while (!stop_) {
            if (!wait_ready(listener_.socket(), POLLIN, Deadline::after(10ms))) continue;
            Accepted accepted = listener_.accept();
            if (!accepted.socket.is_open()) continue;
            ++accepted_;
            RawPeer peer(std::move(accepted.socket));
            body(peer);
          }
        }) {}
  ~Misbehaving() {
    stop_ = true;
    thread_.join();
  }
  const Address& address() const { return listener_.address(); }
  int accepted() const { return accepted_; }

 private:
  Listener listener_{Address::tcp("127.0.0.1", 0)};
  std::atomic<bool> stop_ = false;
  std::atomic<int> accepted_ = 0;
  std::thread thread_;
};

TEST(Dial, AnAbsentServerIsUnreachableAtTheDeadline) {
  const TemporaryFolder folder("dial-test");
  Address gone = Listener(Address::tcp("127.0.0.1", 0)).address();
  for (const Address& address : {gone, Address::unix_socket((folder.path() / "none").string())}) {
    const Outcome outcome = fail_to_dial(address, 150ms);
    EXPECT_EQ(outcome.error.code(), ErrorCode::Unreachable);
    EXPECT_NE(outcome.error.message().find(address.to_text()), std::string::npos);
    EXPECT_GE(outcome.elapsed, 150ms);
  }
}

TEST(Dial, AServerThatStartsLateIsFound) {
  const TemporaryFolder folder("dial-test");
  const Address address = Address::unix_socket((folder.path() / "late").string());
  Dialed dialed;
  std::thread dialer([&] { dialed = dial(address, kMe, Deadline::after(10s)); });
  std::this_thread::sleep_for(100ms);
  Server::Options options;
  options.address = address;
  options.credentials = std::make_shared<SecretCredentials>(kMe);
  Server server(options, {});
  dialer.join();
  EXPECT_EQ(dialed.peer.name, "me");
}

TEST(Dial, AnotherSecretIsUnauthenticatedAtOnce) {
  Rig rig;
  const Outcome outcome = fail_to_dial(rig.server->address(), 60s);
  EXPECT_EQ(outcome.error.code(), ErrorCode::Unauthenticated);
  EXPECT_NE(outcome.error.message().find("secret"), std::string::npos);
  EXPECT_LT(outcome.elapsed, 60s) << "its deadline: it is not tried again";
  EXPECT_TRUE(eventually([&] { return rig.server->counters().strangers_refused == 1; }));
}

TEST(Dial, AForeignServerIsAProtocolErrorAtOnce) {
  Misbehaving foreign([](RawPeer& peer) { peer.say(bytes_of("220 mail ready\r\n")); });
  const Outcome outcome = fail_to_dial(foreign.address(), 60s);
  EXPECT_EQ(outcome.error.code(), ErrorCode::Protocol);
  EXPECT_LT(outcome.elapsed, 60s) << "its deadline: it is not tried again";
}

TEST(Dial, AnotherVersionIsReported) {
  Misbehaving newer([](RawPeer& peer) {
    peer.hear();
    peer.say(bytes_of(std::string_view("TRH\0\x07", 5)));
  });
  const Outcome outcome = fail_to_dial(newer.address(), 10s);
  EXPECT_EQ(outcome.error.code(), ErrorCode::Protocol);
  EXPECT_NE(outcome.error.message().find("version 7"), std::string::npos);
}

TEST(Dial, ASilentServerIsADeadline) {
  Misbehaving silent([](RawPeer& peer) { peer.is_hung_up_by(Deadline::after(5s)); });
  const Outcome outcome = fail_to_dial(silent.address(), 150ms);
  EXPECT_EQ(outcome.error.code(), ErrorCode::Deadline);
  EXPECT_GE(outcome.elapsed, 150ms);
}

TEST(Dial, AServerThatHangsUpIsRetried) {
  Misbehaving busy([](RawPeer& peer) { peer.hear(); });
  const Outcome outcome = fail_to_dial(busy.address(), 200ms);
  // The deadline may also pass between two hang-ups, while a connection waits to be accepted.
  EXPECT_TRUE(outcome.error.code() == ErrorCode::Unreachable ||
              outcome.error.code() == ErrorCode::Deadline);
  EXPECT_NE(std::string(outcome.error.what()).find("ended the handshake"), std::string::npos)
      << outcome.error.what();
  EXPECT_GE(busy.accepted(), 3);
  EXPECT_LE(busy.accepted(), 12) << "the pauses grow";
}

TEST(Dial, FailuresLeaveNoDescriptorBehind) {
  const int before = open_descriptors();
  for (int i = 0; i < 5; ++i) {
    Rig rig;
    fail_to_dial(rig.server->address(), 1s);
  }
  EXPECT_EQ(open_descriptors(), before);
}

}  // namespace
}  // namespace trireme::net
