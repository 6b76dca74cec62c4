// Goal:   threads that share a connection read for each other, hand over the reading, and never
//         deadlock, not even through the server.
// Method: a live server with small limits; held requests determine which thread waits and which
//         reads.

#include "trireme/net/client_core.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "tests/net/raw_peer.h"
#include "tests/net/rig.h"
#include "trireme/net/listener.h"

namespace trireme::net {
namespace {

TEST(ClientCore, AWaitingThreadReadsForAllThreads) {
  Rig rig;
  Client client = rig.join();
  std::thread leader([&] { EXPECT_EQ(text_of(client.call(kHold, {}, soon())), "at last"); });
  ASSERT_TRUE(eventually([&] { return rig.service->held().size() == 1; }));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(client.call(kEcho, Bytes(i), soon()).size(), i + 0u);
  rig.service->held().at(0)->reply(bytes_of("at last"));
  leader.join();
}

TEST(ClientCore, AnotherThreadTakesOverReadingAtADeadline) {
  Rig rig;
  Client client = rig.join();
  std::thread first([&] {
    EXPECT_EQ(error_of([&] { client.call(kHold, {}, Deadline::after(200ms)); }).code(),
              ErrorCode::Deadline);
  });
  ASSERT_TRUE(eventually([&] { return rig.service->held().size() == 1; }));
  std::vector<std::thread> others;
  for (int i = 0; i < 3; ++i) {
    others.emplace_back([&] { EXPECT_EQ(text_of(client.call(kHold, {}, soon())), "late"); });
  }
  ASSERT_TRUE(eventually([&] { return rig.service->held().size() == 4; }));
  first.join();
  for (const auto& caller : rig.service->held()) caller->reply(bytes_of("late"));
  for (auto& thread : others) thread.join();
}

TEST(ClientCore, AFullStreamBlocksTheConnectionAndIsReported) {
  Rig rig;
  Client client = rig.join(3);
  ReplyStream stream = client.open(kCount, Bytes(10), soon());
  const Error error = error_of([&] { client.call(kEcho, {}, Deadline::after(100ms)); });
  EXPECT_EQ(error.code(), ErrorCode::Deadline);
  EXPECT_NE(error.cause().find("stream of this connection is full"), std::string::npos);

  // A waiting caller is served as soon as the items of the full stream are taken.
  std::atomic<bool> is_answered = false;
  std::thread caller([&] {
    client.call(kEcho, {}, soon());
    is_answered = true;
  });
  for (int i = 0; i < 10; ++i) EXPECT_EQ(text_of(stream.next(soon()).value()), std::to_string(i));
  EXPECT_FALSE(stream.next(soon()).has_value());
  caller.join();
  EXPECT_TRUE(is_answered);
}

TEST(ClientCore, DroppingAFullStreamFreesTheOthers) {
  Rig rig;
  Client client = rig.join(3);
  std::optional<ReplyStream> stream(client.open(kCount, Bytes(10), soon()));
  EXPECT_EQ(error_of([&] { client.call(kEcho, {}, Deadline::after(20ms)); }).code(),
            ErrorCode::Deadline);
  std::thread caller([&] { EXPECT_EQ(client.call(kEcho, Bytes(5), soon()).size(), 5u); });
  stream.reset();
  caller.join();
}

TEST(ClientCore, FullBuffersOnBothEndsDoNotDeadlock) {
  Server::Options options;
  options.output_max = 64 << 10;
  Rig rig(options);
  Client client = rig.join();
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      // Each answer is larger than the server's output limit and the socket buffers.
      for (int i = 0; i < 5; ++i) {
        if (client.call(kEcho, Bytes(3'000'000), Deadline::after(60s)).size() == 3'000'000) ++good;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(good, 20);
}

TEST(ClientCore, PostsWaitForASlowServer) {
  Rig rig;
  Client client = rig.join();
  std::atomic<bool> go_on = false;
  rig.server->post([&] {
    while (!go_on) std::this_thread::sleep_for(1ms);
  });
  const Error error = error_of([&] {
    const Deadline deadline = Deadline::after(200ms);
    for (int i = 0; i < 100'000; ++i) client.post(kEcho, Bytes(100'000), deadline);
  });
  EXPECT_EQ(error.code(), ErrorCode::Deadline) << "posting never waited for the server";
  go_on = true;
  EXPECT_EQ(client.call(kEcho, Bytes(7), soon()).size(), 7u) << "the byte stream stays valid";
}

// A server that completes the handshake and then sends arbitrary bytes.
class Impostor {
 public:
  explicit Impostor(const Bytes& words) {
    thread_ = std::thread([this, words] {
      wait_ready(listener_.socket(), POLLIN, soon());
      RawPeer peer(listener_.accept().socket);
      const auto handshake = credentials_.begin(Side::Server);
      EXPECT_TRUE(peer.shake(*handshake));
      peer.hear();
      peer.say(words);
      EXPECT_TRUE(peer.is_hung_up_by(soon()));
    });
  }
  ~Impostor() { thread_.join(); }
  Client join() const {
    return Client({.address = listener_.address(), .credentials = &credentials_}, soon());
  }

 private:
  const SecretCredentials credentials_{Secret::generate(), "impostor"};
  Listener listener_{Address::tcp("127.0.0.1", 0)};
  std::thread thread_;
};

TEST(ClientCore, BytesThatNoServerSendsAreAProtocolErrorForAll) {
  Impostor impostor(to_bytes("HTTP/1.1 400 Bad Request\r\n\r\n"));
  Client client = impostor.join();
  const Error error = error_of([&] { client.call(kEcho, {}, soon()); });
  EXPECT_EQ(error.code(), ErrorCode::Protocol);
  EXPECT_NE(error.message().find("impostor at tcp://"), std::string::npos);
  EXPECT_FALSE(client.is_open());
  EXPECT_EQ(error_of([&] { client.post(kEcho, {}, soon()); }).code(), ErrorCode::Protocol);
}

TEST(ClientCore, AnUnreadableErrorFailsOnlyItsCall) {
  Bytes words = encode({FrameKind::Failure, kEcho, 1, to_bytes("no error")});
  const Bytes good = encode({FrameKind::Reply, kEcho, 2, to_bytes("fine")});
  words.insert(words.end(), good.begin(), good.end());
  Impostor impostor(words);
  Client client = impostor.join();
  EXPECT_EQ(error_of([&] { client.call(kEcho, {}, soon()); }).code(), ErrorCode::Protocol);
  EXPECT_TRUE(client.is_open());
}

}  // namespace
}  // namespace trireme::net
