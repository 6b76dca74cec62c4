// Goal:   the other end immediately notices a process that is killed in the middle of a frame.
// Method: a forked child inherits one authenticated connection, sends half a frame and is killed;
//         it makes only system calls, because the parent has threads.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

#include "tests/net/raw_peer.h"
#include "tests/net/rig.h"
#include "trireme/net/frame.h"
#include "trireme/net/listener.h"

namespace trireme::net {
namespace {

// A child that sends `bytes` on the socket and then waits to be killed. The parent's copy of the
// socket is closed, so that the child's death closes the connection.
class Child {
 public:
  Child(Socket socket, const Bytes& bytes) {
    pid_ = fork();
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      (void)!::write(socket.descriptor(), bytes.data(), bytes.size());
      while (true) pause();
    }
  }
  TimePoint kill() {
    const TimePoint when = steady_clock().now();
    ::kill(pid_, SIGKILL);
    int status = 0;
    EXPECT_EQ(waitpid(pid_, &status, 0), pid_);
    EXPECT_TRUE(WIFSIGNALED(status));
    return when;
  }

 private:
  pid_t pid_ = -1;
};

Bytes half_of(const Frame& frame) {
  Bytes out = encode(frame);
  out.resize(out.size() / 2);
  return out;
}

TEST(Death, TheServerNoticesAClientKilledWithinAFrame) {
  Rig rig;
  RawPeer peer(rig.server->address());
  const auto handshake = rig.client_credentials.begin(Side::Client);
  ASSERT_TRUE(peer.shake(*handshake));
  peer.say(encode({FrameKind::Request, kHold, 1, {}}));
  ASSERT_TRUE(eventually([&] { return rig.service->held().size() == 1; }));
  const auto caller = rig.service->held().at(0);
  Child child(std::move(peer.socket()), half_of({FrameKind::Request, kEcho, 2, Bytes(10'000)}));
  std::this_thread::sleep_for(20ms);
  EXPECT_TRUE(caller->send_item(bytes_of("alive")))
      << "an incomplete frame must not end the session";

  child.kill();
  EXPECT_TRUE(eventually([&] { return rig.service->sessions_ended == 1; }));
  EXPECT_FALSE(caller->send_item(bytes_of("dead")));
  EXPECT_EQ(rig.service->requests, 1) << "an incomplete request must not be served";
  EXPECT_EQ(rig.server->counters().sessions_cut, 0u);
}

TEST(Death, TheClientNoticesAServerKilledWithinAFrame) {
  const SecretCredentials credentials(Secret::generate(), "victim");
  Listener listener(Address::tcp("127.0.0.1", 0));
  Socket served;
  std::thread acceptor([&] {
    ASSERT_TRUE(wait_ready(listener.socket(), POLLIN, soon()));
    RawPeer peer(listener.accept().socket);
    ASSERT_TRUE(peer.shake(*credentials.begin(Side::Server)));
    served = std::move(peer.socket());
  });
  Client client({.address = listener.address(), .credentials = &credentials}, soon());
  acceptor.join();
  ReplyStream stream = client.open(kCount, {}, soon());
  Bytes words = encode({FrameKind::Item, kCount, 1, to_bytes("whole")});
  const Bytes half = half_of({FrameKind::Item, kCount, 1, Bytes(10'000)});
  words.insert(words.end(), half.begin(), half.end());
  Child child(std::move(served), words);
  EXPECT_EQ(text_of(stream.next(soon()).value()), "whole");

  std::thread waiter([&] {
    const Error error = error_of([&] { stream.next(soon()); });
    EXPECT_EQ(error.code(), ErrorCode::PeerLost) << error.what();
  });
  // By then the waiter usually waits already; the test passes in either order.
  std::this_thread::sleep_for(20ms);
  child.kill();
  waiter.join();
  EXPECT_FALSE(client.is_open());
}

}  // namespace
}  // namespace trireme::net
