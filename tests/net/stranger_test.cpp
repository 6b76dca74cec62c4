// Goal:   thousands of strangers of every kind neither stop the server, nor slow it down, nor make
//         it grow: a member gets its answers, new members can connect, every connection is counted
//         once, and all resources are released.
// Method: threads that misbehave in twelve ways against a live server, twice, while a member sends
//         requests continuously; times, descriptors and resident memory are measured.

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/net/raw_peer.h"
#include "tests/net/rig.h"
#include "trireme/net/frame.h"
#include "trireme/net/server.h"

namespace trireme::net {
namespace {

constexpr int kEach = 500;  // strangers of each kind per round; there are two rounds

long resident_pages() {
  long total = 0;
  long resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident;
}

// The messages of a valid client, which anyone on the network could have recorded.
struct Recording {
  Bytes hello;
  Bytes answer;
};

class Crowd {
 public:
  explicit Crowd(const Rig& rig) : rig_(rig) {
    RawPeer peer(rig.server->address());
    const auto handshake = rig.client_credentials.begin(Side::Client);
    recording_.hello = handshake->take_output();
    peer.say(recording_.hello);
    handshake->feed(peer.hear());
    recording_.answer = handshake->take_output();
    peer.say(recording_.answer);
    handshake->feed(peer.hear());
  }

  void garbage(RawPeer& peer) {
    std::minstd_rand random(std::random_device{}());
    Bytes bytes(random() % 500 + 1);
    for (auto& each : bytes) each = static_cast<std::byte>(random());
    peer.say(bytes);
  }
  void web_browser(RawPeer& peer) { peer.say(bytes_of("GET / HTTP/1.1\r\nHost: x\r\n\r\n")); }
  void port_scanner(RawPeer&) {}
  void resetter(RawPeer& peer) {
    peer.say(ByteView(recording_.hello).first(20));
    peer.reset_on_close();
  }
  void wrong_secret(RawPeer& peer) {
    const SecretCredentials other(Secret::generate(), "rank 1");
    // A correct client would detect the wrong secret itself; this stranger continues regardless.
    peer.say(other.begin(Side::Client)->take_output());
    if (peer.hear().empty()) return;
    peer.say(Bytes(SecretCredentials::kAnswerSize, std::byte{7}));
  }
  void wrong_version(RawPeer& peer) {
    Bytes hello = recording_.hello;
    hello[4] = std::byte{99};
    peer.say(hello);
  }
  void replayer(RawPeer& peer) {
    peer.say(recording_.hello);
    if (!peer.hear().empty()) peer.say(recording_.answer);
  }
  void reflector(RawPeer& peer) {
    peer.say(recording_.hello);
    const Bytes proof = peer.hear();
    if (proof.size() < SecretCredentials::kAnswerSize) return;
    peer.say(ByteView(proof).last(SecretCredentials::kAnswerSize));
  }
  void member_gone_wrong(RawPeer& peer) { break_in_with(peer, to_bytes("now something else...")); }
  void member_too_large(RawPeer& peer) {
    FrameHeader header = encode_header(FrameKind::Request, kEcho, 1, 0);
    header[19] = std::byte{0x7f};
    break_in_with(peer, Bytes(header.begin(), header.end()));
  }

  // Strangers that connect, do one thing and leave; half of those that have sent everything wait
  // until the server closes the connection.
  void run(void (Crowd::*kind)(RawPeer&)) {
    const bool is_brief = kind == &Crowd::port_scanner || kind == &Crowd::resetter;
    for (int i = 0; i < kEach; ++i) {
      RawPeer peer(rig_.server->address());
      ++connections;
      (this->*kind)(peer);
      if (is_brief || i % 2 == 0) continue;
      EXPECT_TRUE(peer.is_hung_up_by(soon()));
    }
  }

  // Strangers that send nothing, or one valid byte from time to time, and never leave by
  // themselves.
  void run_lingerers() {
    std::vector<RawPeer> silent;
    std::vector<RawPeer> dripping;
    std::vector<std::size_t> said(kEach, 0);
    for (int i = 0; i < kEach; ++i) {
      silent.emplace_back(rig_.server->address());
      dripping.emplace_back(rig_.server->address());
      connections += 2;
      for (std::size_t k = 0; k < dripping.size(); k += 7) {
        if (said[k] + 1 >= recording_.hello.size()) continue;
        (void)send(dripping[k].socket(), ByteView(recording_.hello).subspan(said[k]++, 1));
      }
    }
    for (auto& peer : silent) EXPECT_TRUE(peer.is_hung_up_by(soon()));
    for (auto& peer : dripping) EXPECT_TRUE(peer.is_hung_up_by(soon()));
  }

  std::atomic<std::uint64_t> connections = 1;
  std::atomic<std::uint64_t> broken_in = 0;

 private:
  void break_in_with(RawPeer& peer, const Bytes& words) {
    const auto handshake = rig_.client_credentials.begin(Side::Client);
    // While there are many strangers, even a member cannot connect every time.
    if (!peer.shake(*handshake) || !peer.say(words)) return;
    if (peer.is_hung_up_by(soon())) ++broken_in;
  }

  const Rig& rig_;
  Recording recording_;
};

// Sends requests continuously.
class Member {
 public:
  explicit Member(const Rig& rig)
      : client_(rig.join()), thread_([this] {
          while (!stop_) {
            if (client_.call(kEcho, Bytes(100), soon()).size() == 100) ++answers;
          }
        }) {}
  void stop() {
    stop_ = true;
    thread_.join();
  }
  int answers = 0;

 private:
  Client client_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

TEST(Strangers, ThousandsOfStrangersDoNotAffectMembers) {
  Server::Options options;
  options.handshake_timeout = 300ms;
  options.stranger_grace = 20ms;
  options.strangers_max = 32;
  Rig rig(options);
  Crowd crowd(rig);
  ASSERT_TRUE(eventually([&] { return rig.service->sessions_ended == 1; }));
  const int descriptors_before = open_descriptors();
  long pages_after_first = 0;

  for (int round = 0; round < 2; ++round) {
    Member member(rig);
    ++crowd.connections;
    std::vector<std::thread> threads;
    threads.emplace_back([&] { crowd.run_lingerers(); });
    threads.emplace_back([&] {
      for (auto kind : {&Crowd::garbage, &Crowd::web_browser, &Crowd::port_scanner,
                        &Crowd::resetter, &Crowd::wrong_secret}) {
        crowd.run(kind);
      }
    });
    threads.emplace_back([&] {
      for (auto kind : {&Crowd::wrong_version, &Crowd::replayer, &Crowd::reflector,
                        &Crowd::member_gone_wrong, &Crowd::member_too_large}) {
        crowd.run(kind);
      }
    });
    // New members can connect in the meantime; dial() retries each attempt that strangers crowd
    // out.
    for (int i = 0; i < 5; ++i) {
      EXPECT_NO_THROW(rig.join().call(kEcho, {}, soon()));
    }
    for (auto& thread : threads) thread.join();
    member.stop();
    EXPECT_GT(member.answers, 100);
    if (round == 0) pages_after_first = resident_pages();
  }

  // Every connection was counted by exactly one counter.
  EXPECT_TRUE(eventually([&] {
    const ServerCounters now = rig.server->counters();
    return now.connections == now.sessions_accepted + now.strangers_refused +
                                  now.strangers_timed_out + now.strangers_crowded_out;
  }));
  const ServerCounters total = rig.server->counters();
  EXPECT_GE(total.connections, crowd.connections + 10);
  EXPECT_EQ(total.sessions_cut, crowd.broken_in);
  EXPECT_EQ(total.sessions_accepted, crowd.broken_in + 1 + 2 + 10) << "recorded, members, joined";
  EXPECT_GE(total.strangers_refused, 2u * kEach);
  EXPECT_GE(total.strangers_timed_out + total.strangers_crowded_out, 4u * kEach);
  EXPECT_GT(total.connections, 5000u);

  EXPECT_TRUE(eventually([&] { return open_descriptors() == descriptors_before; }))
      << open_descriptors() << " descriptors, before " << descriptors_before;
  if (kSlowness == 1) {
    const long grown = (resident_pages() - pages_after_first) * sysconf(_SC_PAGESIZE);
    EXPECT_LT(grown, 8 << 20) << "bytes of memory that remained after the second round";
  }
}

}  // namespace
}  // namespace trireme::net
