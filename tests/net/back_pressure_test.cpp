// Goal:   a client that does not read cannot make the server buffer more than its limit.
// Method: streams and answers that are not read, with resident memory and accepted bytes measured
//         in the server.

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/net/raw_peer.h"
#include "tests/net/rig.h"
#include "trireme/net/frame.h"
#include "trireme/net/server.h"

namespace trireme::net {
namespace {

constexpr std::size_t kOutputMax = 1 << 20;
// The maximum that the kernel buffers for one connection, both ends together, with autotuning.
constexpr std::size_t kKernelMax = 16 << 20;

Server::Options with_bound() {
  Server::Options options;
  options.output_max = kOutputMax;
  return options;
}

TEST(BackPressure, AnUnreadStreamIsDisconnected) {
  Rig rig(with_bound());
  Client client = rig.join();
  ReplyStream stream = client.open(kHold, {}, soon());
  ASSERT_TRUE(eventually([&] { return rig.service->held().size() == 1; }));
  const auto caller = rig.service->held().at(0);
  std::size_t accepted = 0;
  const Bytes item(10'000);
  while (caller->send_item(item)) {
    accepted += item.size();
    ASSERT_LT(accepted, kOutputMax + kKernelMax) << "the server buffers a stream that is not read";
  }
  EXPECT_TRUE(eventually([&] { return rig.server->counters().sessions_cut == 1; }));
  EXPECT_TRUE(eventually([&] { return rig.service->sessions_ended == 1; }));
  // The client reads the items that had arrived, and then an error because the server disconnected
  // it.
  const Error error = error_of([&] {
    while (stream.next(soon())) {
    }
  });
  EXPECT_EQ(error.code(), ErrorCode::PeerLost);
}

TEST(BackPressure, AStreamThatIsReadIsNotDisconnected) {
  Rig rig(with_bound());
  Client client = rig.join();
  ReplyStream stream = client.open(kHold, {}, soon());
  ASSERT_TRUE(eventually([&] { return rig.service->held().size() == 1; }));
  const auto caller = rig.service->held().at(0);
  // The producer is never more than half the limit ahead, so a reader of any speed is not
  // disconnected.
  constexpr int kItems = 2000;
  constexpr int kAhead = 50;
  std::atomic<int> read = 0;
  std::thread producer([&] {
    const Bytes item(10'000);
    for (int i = 0; i < kItems; ++i) {
      while (i - read > kAhead) std::this_thread::yield();
      ASSERT_TRUE(caller->send_item(item)) << i;
    }
    caller->end();
  });
  while (stream.next(soon())) ++read;
  producer.join();
  EXPECT_EQ(read, kItems);
  EXPECT_EQ(rig.server->counters().sessions_cut, 0u);
}

TEST(BackPressure, UnreadAnswersStopTheReadingOfRequests) {
  Rig rig(with_bound());
  RawPeer peer(rig.server->address());
  const auto handshake = rig.client_credentials.begin(Side::Client);
  ASSERT_TRUE(peer.shake(*handshake));
  std::uint64_t id = 0;
  Bytes rest;
  std::size_t sent = 0;
  // Sends until the kernel accepts no more for a tenth of a second, which means that the server
  // does not read.
  while (true) {
    if (rest.empty()) rest = encode({FrameKind::Request, kEcho, ++id, Bytes(10'000)});
    const IoResult moved = send(peer.socket(), rest);
    if (moved.has_moved()) {
      sent += moved.size;
      rest.erase(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(moved.size));
      ASSERT_LT(sent, kOutputMax + 2 * kKernelMax) << "the server still reads requests";
    } else if (!wait_ready(peer.socket(), POLLOUT, Deadline::after(100ms))) {
      break;
    }
  }
  // Other clients are served in the meantime.
  Client neighbour = rig.join();
  neighbour.call(kEcho, Bytes(100), soon());
  EXPECT_EQ(rig.server->counters().sessions_cut, 0u) << "a slow client must not be disconnected";

  // Once the client reads, it receives all answers.
  FrameReader reader;
  std::uint64_t answered = 0;
  while (answered + 1 < id) {
    const Bytes input = peer.hear();
    ASSERT_FALSE(input.empty()) << answered << " of " << id;
    reader.feed(input);
    while (auto frame = reader.next()) EXPECT_EQ(frame->id, ++answered);
  }
}

TEST(BackPressure, TooManyOpenRequestsAreRefused) {
  Rig rig;
  Client client = rig.join();
  std::vector<ReplyStream> streams;
  for (int i = 0; i < 4096; ++i) streams.push_back(client.open(kHold, {}, soon()));
  ReplyStream last = client.open(kHold, {}, soon());
  EXPECT_EQ(error_of([&] { last.next(soon()); }).code(), ErrorCode::Exhausted);
  streams.clear();
  EXPECT_EQ(client.call(kEcho, Bytes(3), soon()).size(), 3u);
}

}  // namespace
}  // namespace trireme::net
