// A store server and its clients on nodes of a SimulatedNetwork. They run the same StoreState and
// StoreSession as real stores, over a network that loses and duplicates messages.
//
// Connections:   a client sends hello until it receives a welcome, and then includes the server's
//                life (a number that changes on each start) in every request. A restarted server
//                refuses requests to its previous life, which corresponds to a broken TCP
//                connection of a real client.
// Mistakes:      a server or client can be configured to omit one of the mechanisms that make
//                requests apply exactly once, so that a test can show that it detects the omission.
// Thread safety: one thread, as the network.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "trireme/cluster/store/store_session.h"
#include "trireme/cluster/store/store_state.h"
#include "trireme/testing/simulated_network.h"

namespace trireme::testing {

enum class StoreDefect { None, ServerAppliesCopies, ClientRenumbersRetries };

class SimulatedStoreServer {
 public:
  SimulatedStoreServer(SimulatedNetwork& network, int node,
                       StoreDefect mistake = StoreDefect::None);

  // Starts a new process with an empty store.
  void start();
  void crash();
  // Starts a new process that has read the log of the previous one: it has the entries that live as
  // long as the job, but not those of sessions.
  void restart();
  // Stops receiving until resume(), which continues with the same state.
  void pause();
  void resume();
  // Simulates that the server notices a lost connection to this client.
  void drop(int client);

  const cluster::StoreState& state() const { return *state_; }
  // Every applied change since the last start(), in order and across restarts.
  const std::vector<cluster::StoreMap::Change>& history() const { return history_; }

 private:
  struct Peer {
    std::uint64_t life = 0;
    cluster::StoreSessionId session = 0;
  };

  void begin_life();
  void receive(int from, ByteView message);
  void apply(int from, const Peer& peer, cluster::StoreRequest request);
  void deliver();

  SimulatedNetwork& network_;
  const int node_;
  const StoreDefect mistake_;
  std::uint64_t life_ = 0;
  std::unique_ptr<cluster::StoreState> state_;
  std::vector<cluster::StoreMap::Change> history_;
  std::map<int, Peer> peers_;
  std::map<cluster::StoreSessionId, int> node_of_;
  cluster::StoreSessionId last_session_ = 0;
  // For ServerAppliesCopies: the number that a request had before it was given a new one.
  std::map<std::uint64_t, std::uint64_t> original_;
  std::uint64_t last_number_ = 0;
};

class SimulatedStoreClient {
 public:
  using Done = std::function<void(const cluster::StoreReply&)>;

  struct Options {
    int node = 1;
    int server = 0;
    Duration retry = std::chrono::milliseconds(30);
    StoreDefect mistake = StoreDefect::None;
  };

  SimulatedStoreClient(SimulatedNetwork& network, const Options& options);

  // Starts a new process with a new session.
  void start();
  void crash();
  // Calls `done` once, with the server's reply, or with PeerLost if the server was restarted. It is
  // not called if this process crashed.
  void call(cluster::StoreRequest request, Done done);
  // Drops all pending callbacks.
  void abandon_all();
  // Continues the same process with a new session, with or without a preceding PeerLost. Callbacks
  // of the old session are dropped.
  void reconnect();

 private:
  void receive(ByteView message);
  void send_all(const std::vector<cluster::StoreRequest>& requests);
  void begin_waiting();
  void lose();
  void tick();
  void arm();

  SimulatedNetwork& network_;
  const Options options_;
  std::uint64_t life_ = 0;
  std::uint64_t server_life_ = 0;  // 0 if not welcomed yet
  bool is_lost_ = false;
  bool is_armed_ = false;
  cluster::StoreSession session_;
  std::vector<std::pair<cluster::StoreRequest, Done>> waiting_;  // requests waiting for the welcome
  std::map<std::uint16_t, Done> calls_;
};

}  // namespace trireme::testing
