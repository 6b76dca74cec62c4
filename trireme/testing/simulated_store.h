// A store server and its clients on nodes of a SimulatedNetwork. They run the same StoreState and
// StoreSlots as real stores.
//
// Connections:   a client sends hello until it receives a welcome, and then includes the server's
//                life (a number that changes on each start) in every request. A restarted server
//                tells the clients of its previous life that it is gone, which corresponds to a
//                broken TCP connection of a real client.
// Thread safety: one thread, as the network.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "trireme/cluster/store/store_slots.h"
#include "trireme/cluster/store/store_state.h"
#include "trireme/testing/simulated_network.h"

namespace trireme::testing {

class SimulatedStoreServer {
 public:
  SimulatedStoreServer(SimulatedNetwork& network, int node);

  // Starts a new process with an empty store.
  void start();
  void crash();
  // Starts a new process that has read the log of the previous one: it has the entries that live as
  // long as the job, but not those of sessions.
  void restart();
  // Reads nothing until resume(), which continues with the same state and with what arrived since.
  void pause() { is_paused_ = true; }
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
  void attach();
  void receive(int from, ByteView message);
  void deliver();

  SimulatedNetwork& network_;
  const int node_;
  std::uint64_t life_ = 0;
  bool is_paused_ = false;
  std::vector<std::pair<int, Bytes>> unread_;  // what arrived during a pause
  std::unique_ptr<cluster::StoreState> state_;
  std::vector<cluster::StoreMap::Change> history_;
  std::map<int, Peer> peers_;
  std::map<cluster::StoreSessionId, int> node_of_;
  cluster::StoreSessionId last_session_ = 0;
  // The client's number of the last call in each slot.
  std::map<std::pair<cluster::StoreSessionId, std::uint16_t>, std::uint64_t> calls_;
};

class SimulatedStoreClient {
 public:
  using Done = std::function<void(const cluster::StoreReply&)>;

  struct Options {
    int node = 1;
    int server = 0;
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
  struct Call {
    std::uint16_t slot = 0;
    Done done;
  };

  void connect();
  void say_hello();
  void receive(ByteView message);
  void begin_waiting();
  void lose();

  SimulatedNetwork& network_;
  const Options options_;
  std::uint64_t life_ = 0;
  std::uint64_t server_life_ = 0;  // 0 if not welcomed yet
  bool is_lost_ = false;
  cluster::StoreSlots slots_;
  std::vector<std::pair<cluster::StoreRequest, Done>> waiting_;  // requests waiting for the welcome
  std::map<std::uint64_t, Call> calls_;                          // by number
  std::uint64_t last_call_ = 0;
};

}  // namespace trireme::testing
