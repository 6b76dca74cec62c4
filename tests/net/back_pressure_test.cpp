// Goal:   nobody who does not read can make the server hold more than it said.
// Method: streams and answers that are not read, with resident memory and the accepted bytes
//         measured on the server's side.

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
#include "trireme/testing/in_time.h"

namespace trireme::net {
namespace {

constexpr std::size_t kOutputMax = 1 << 20;
// What the kernel may hold of one connection, both ends together, with automatic tuning.
constexpr std::size_t kKernelMax = 16 << 20;

Server::Options with_bound() {
  Server::Options options;
  options.output_max = kOutputMax;
  return options;
}

TEST(BackPressure, AStreamThatNobodyReadsIsCut) {
  Rig rig(with_bound());
  Client client = rig.join();
  Stream stream = client.open(kHold, {}, soon());
  ASSERT_TRUE(eventually([&] { return rig.service->held().size() == 1; }));
  const auto caller = rig.service->held().at(0);
  std::size_t accepted = 0;
  const Bytes item(10'000);
  while (caller->send_item(item)) {
    accepted += item.size();
    ASSERT_LT(accepted, kOutputMax + kKernelMax) << "the server keeps what nobody reads";
  }
  EXPECT_TRUE(eventually([&] { return rig.server->counters().sessions_cut == 1; }));
  EXPECT_TRUE(eventually([&] { return rig.service->sessions_ended == 1; }));
  // The client reads what had reached it, and then learns that it was cut.
  const Error error = error_of([&] {
    while (stream.next(soon())) {
    }
  });
  EXPECT_EQ(error.code(), ErrorCode::PeerLost);
}

TEST(BackPressure, AStreamThatIsReadIsNotCut) {
  Rig rig(with_bound());
  Client client = rig.join();
  Stream stream = client.open(kHold, {}, soon());
  ASSERT_TRUE(eventually([&] { return rig.service->held().size() == 1; }));
  const auto caller = rig.service->held().at(0);
  // Never more than half the bound ahead of the reader: no pace of the reader gets it cut.
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

TEST(BackPressure, AnswersThatNobodyReadsStopTheReadingOfRequests) {
  Rig rig(with_bound());
  RawPeer peer(rig.server->address());
  const auto handshake = rig.client_credentials.begin(Side::Client);
  ASSERT_TRUE(peer.shake(*handshake));
  std::uint64_t id = 0;
  Bytes rest;
  std::size_t sent = 0;
  // Until the kernel takes no more for a tenth of a second, which means that nobody reads.
  while (true) {
    if (rest.empty()) rest = encode({FrameKind::Request, kEcho, ++id, Bytes(10'000)});
    const Transfer moved = send(peer.socket(), rest);
    if (moved.has_moved()) {
      sent += moved.size;
      rest.erase(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(moved.size));
      ASSERT_LT(sent, kOutputMax + 2 * kKernelMax) << "the server reads on";
    } else if (!wait_ready(peer.socket(), POLLOUT, Deadline::after(100ms))) {
      break;
    }
  }
  // Others are served meanwhile.
  Client neighbour = rig.join();
  const TimePoint begun = steady_clock().now();
  neighbour.call(kEcho, Bytes(100), soon());
  testing::expect_in_time(steady_clock().now() - begun, 500ms);
  EXPECT_EQ(rig.server->counters().sessions_cut, 0u) << "slow is not wrong";

  // And once it reads, it gets everything.
  FrameReader reader;
  std::uint64_t answered = 0;
  while (answered + 1 < id) {
    const Bytes input = peer.hear();
    ASSERT_FALSE(input.empty()) << answered << " of " << id;
    reader.feed(input);
    while (auto frame = reader.next()) EXPECT_EQ(frame->id, ++answered);
  }
}

TEST(BackPressure, TooManyOpenRequestsFailByName) {
  Rig rig;
  Client client = rig.join();
  std::vector<Stream> streams;
  for (int i = 0; i < 4096; ++i) streams.push_back(client.open(kHold, {}, soon()));
  Stream last = client.open(kHold, {}, soon());
  EXPECT_EQ(error_of([&] { last.next(soon()); }).code(), ErrorCode::Exhausted);
  streams.clear();
  EXPECT_EQ(client.call(kEcho, Bytes(3), soon()).size(), 3u);
}

}  // namespace
}  // namespace trireme::net
