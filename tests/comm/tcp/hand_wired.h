// Ranks as threads whose connections a test controls: it can cut a connection or damage its data.

#pragma once

#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "trireme/comm/algorithm/message_backend.h"
#include "trireme/comm/engine.h"
#include "trireme/comm/group.h"
#include "trireme/comm/tcp/mesh.h"
#include "trireme/testing/rank_threads.h"

namespace trireme::comm::tcp {

class HandWired {
 public:
  HandWired(int ranks, bool checksums) : ranks_(ranks), checksums_(checksums), ends_(ranks) {
    for (int low = 0; low < ranks; ++low) {
      for (int high = low + 1; high < ranks; ++high) connect(low, high);
    }
    relay_ = std::thread([this] { relay(); });
  }
  ~HandWired() {
    is_over_ = true;
    relay_.join();
  }
  HandWired(const HandWired&) = delete;
  HandWired& operator=(const HandWired&) = delete;

  void run(const std::function<void(const Group&)>& body) {
    std::vector<int> members;
    for (int rank = 0; rank < ranks_; ++rank) members.push_back(rank);
    testing::run_rank_threads(ranks_, [&](int rank) {
      const auto mesh = std::make_shared<TcpMessenger>(
          rank, std::move(ends_[static_cast<std::size_t>(rank)]), checksums_);
      const auto engine = std::make_shared<Engine>(Engine::Options{});
      engine->add_source(mesh);
      const auto backend = std::make_shared<MessageBackend>(mesh, members, rank, 0x68616e64u,
                                                            MessageBackend::Options{});
      body(Group(backend, engine, {.timeout = std::chrono::seconds(30)}));
    });
  }

  // The connection between ranks 0 and 1 goes through the relay, which can cut it.
  void cut() { wants_cut_ = true; }
  // Flips one bit in the middle of the next transfer of this size from 0 to 1.
  void flip_in_the_next(std::size_t bytes) { flip_in_ = bytes; }

 private:
  using Pair = std::pair<net::Socket, net::Socket>;

  static Pair make_pair() {
    int ends[2] = {-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) != 0) std::abort();
    return {net::Socket(ends[0]), net::Socket(ends[1])};
  }

  void connect(int low, int high) {
    Pair near = make_pair();
    if (low == 0 && high == 1) {
      Pair far = make_pair();
      relayed_[0] = std::move(near.second);
      relayed_[1] = std::move(far.second);
      near.second = std::move(far.first);
    }
    ends_[static_cast<std::size_t>(low)].push_back({high, std::move(near.first), {}});
    ends_[static_cast<std::size_t>(high)].push_back({low, std::move(near.second), {}});
  }

  // Forwards data in both directions until the object is destroyed.
  void relay() {
    std::vector<std::byte> buffer(std::size_t{64} << 10);
    while (!is_over_) {
      if (wants_cut_.exchange(false)) {
        for (const net::Socket& socket : relayed_) ::shutdown(socket.descriptor(), SHUT_RDWR);
      }
      pollfd ready[2] = {{relayed_[0].descriptor(), POLLIN, 0},
                         {relayed_[1].descriptor(), POLLIN, 0}};
      ::poll(ready, 2, 1);
      for (const int from : {0, 1}) {
        const net::IoResult got = net::receive(relayed_[from], buffer);
        // If one end closes the connection, close it for the other end too.
        if (!got.has_moved() && !got.must_wait()) hang_up(1 - from);
        if (!got.has_moved()) continue;
        const std::size_t wanted = flip_in_;
        if (from == 0 && wanted != 0 && got.size >= wanted) {
          buffer[got.size / 2] ^= std::byte{4};
          flip_in_ = 0;
        }
        for (std::size_t done = 0; done < got.size && !is_over_;) {
          const net::IoResult put =
              net::send(relayed_[1 - from], ByteView(buffer).subspan(done, got.size - done));
          if (!put.has_moved() && !put.must_wait()) {
            hang_up(from);
            break;
          }
          done += put.size;
        }
      }
    }
  }

  void hang_up(int side) const { ::shutdown(relayed_[side].descriptor(), SHUT_RDWR); }

  int ranks_;
  bool checksums_;
  std::vector<std::vector<Connected>> ends_;
  net::Socket relayed_[2];  // towards rank 0, and towards rank 1
  std::atomic<bool> wants_cut_{false}, is_over_{false};
  std::atomic<std::size_t> flip_in_{0};
  std::thread relay_;
};

}  // namespace trireme::comm::tcp
