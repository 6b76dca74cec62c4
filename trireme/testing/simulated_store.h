// A store's server and clients on nodes of a SimulatedNetwork: the same StoreState and
// StoreSession that real stores run, with nothing under them but lost and doubled messages.
//
// Connections: a client says hello until it is welcomed, and then names the server's life in every
//              request; a server that was restarted refuses requests to its former life. That is
//              what a broken TCP connection tells real clients.
// Mistakes:    a server or client can be told to leave out one of the things that make requests
//              apply once, so that a test can show that it would notice.
// Threads:     one, as the network.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "trireme/cluster/store_session.h"
#include "trireme/cluster/store_state.h"
#include "trireme/testing/simulated_network.h"

namespace trireme::testing {

enum class Mistake { None, ServerAppliesCopies, ClientRenumbersRetries };

class SimulatedStoreServer {
 public:
  SimulatedStoreServer(SimulatedNetwork& network, int node, Mistake mistake = Mistake::None);

  // A new process with an empty store.
  void start();
  void crash();
  // A new process that has read the log of the one before: what lives as long as the job is there,
  // what lived with sessions is not.
  void restart();
  // It hears nothing for a while, and then goes on where it was.
  void pause();
  void resume();
  // The server notices that this client's connection is gone.
  void drop(int client);

  const cluster::StoreState& state() const { return *state_; }
  // Every change that ever became true, in order; since the last start(), restarts included.
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
  const Mistake mistake_;
  std::uint64_t life_ = 0;
  std::unique_ptr<cluster::StoreState> state_;
  std::vector<cluster::StoreMap::Change> history_;
  std::map<int, Peer> peers_;
  std::map<cluster::StoreSessionId, int> node_of_;
  cluster::StoreSessionId last_session_ = 0;
  // ServerAppliesCopies: the number that a request had before it was given a new one.
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
    Mistake mistake = Mistake::None;
  };

  SimulatedStoreClient(SimulatedNetwork& network, const Options& options);

  // A new process with a new session.
  void start();
  void crash();
  // Calls back once, with the server's reply or, when the server was restarted, with PeerLost.
  // Never for a process that crashed.
  void call(cluster::StoreRequest request, Done done);
  // Calls nobody back any more.
  void abandon_all();
  // After PeerLost, or before it: the same process with a new session. Nobody is called back for
  // what was asked of the old one.
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
  std::uint64_t server_life_ = 0;  // 0: not welcomed yet
  bool is_lost_ = false;
  bool is_armed_ = false;
  cluster::StoreSession session_;
  std::vector<std::pair<cluster::StoreRequest, Done>> waiting_;  // for the welcome
  std::map<std::uint16_t, Done> calls_;
};

}  // namespace trireme::testing
