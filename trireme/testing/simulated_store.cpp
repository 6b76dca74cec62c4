#include "trireme/testing/simulated_store.h"

#include <utility>

#include "trireme/base/error.h"

namespace trireme::testing {
namespace {

using cluster::StoreReply;
using cluster::StoreRequest;

enum class Kind : std::uint8_t { Hello, Welcome, Request, Reply, Gone };

struct Envelope {
  Kind kind = Kind::Hello;
  std::uint64_t client_life = 0;
  std::uint64_t server_life = 0;
  Bytes body;
};

Bytes seal(const Envelope& envelope) {
  ByteWriter out;
  out.put(static_cast<std::uint8_t>(envelope.kind));
  out.put(envelope.client_life).put(envelope.server_life);
  out.append(envelope.body);
  return std::move(out).take();
}

Envelope unseal(ByteView message) {
  ByteReader in(message);
  Envelope envelope;
  envelope.kind = static_cast<Kind>(in.get<std::uint8_t>());
  envelope.client_life = in.get<std::uint64_t>();
  envelope.server_life = in.get<std::uint64_t>();
  const ByteView body = in.take(in.remaining());
  envelope.body.assign(body.begin(), body.end());
  return envelope;
}

}  // namespace

SimulatedStoreServer::SimulatedStoreServer(SimulatedNetwork& network, int node, StoreDefect mistake)
    : network_(network), node_(node), mistake_(mistake) {}

void SimulatedStoreServer::start() {
  history_.clear();
  begin_life();
  resume();
}

void SimulatedStoreServer::restart() {
  const std::vector<cluster::StoreMap::Change> log = history_;
  begin_life();
  for (const cluster::StoreMap::Change& change : log) state_->learn(change);
  for (const cluster::StoreSessionId owner : state_->map().owners()) {
    if (owner != cluster::StoreMap::kNobody) state_->end(owner);
  }
  state_->take_deliveries();
  resume();
}

void SimulatedStoreServer::begin_life() {
  ++life_;
  peers_.clear();
  node_of_.clear();
  state_ = std::make_unique<cluster::StoreState>(
      cluster::StoreBounds{}, [this](std::span<const cluster::StoreMap::Change> changes) {
        history_.insert(history_.end(), changes.begin(), changes.end());
      });
}

void SimulatedStoreServer::crash() {
  network_.crash(node_);
}

void SimulatedStoreServer::pause() {
  network_.crash(node_);
}

void SimulatedStoreServer::resume() {
  network_.attach(node_, [this](int from, ByteView message) { receive(from, message); });
}

void SimulatedStoreServer::drop(int client) {
  const auto it = peers_.find(client);
  if (it == peers_.end() || it->second.session == 0) return;
  state_->end(std::exchange(it->second.session, 0));
  deliver();
}

void SimulatedStoreServer::receive(int from, ByteView message) {
  const Envelope envelope = unseal(message);
  Peer& peer = peers_[from];
  if (envelope.kind == Kind::Hello) {
    if (envelope.client_life < peer.life) return;
    if (envelope.client_life > peer.life) {
      drop(from);
      peer = {envelope.client_life, ++last_session_};
      node_of_[peer.session] = from;
      state_->open(peer.session);
    }
    return network_.send(node_, from, seal({Kind::Welcome, peer.life, life_, {}}));
  }
  if (envelope.server_life != life_) {
    return network_.send(node_, from, seal({Kind::Gone, envelope.client_life, life_, {}}));
  }
  if (envelope.client_life != peer.life || peer.session == 0) return;
  apply(from, peer, cluster::decode_store_request(envelope.body));
}

void SimulatedStoreServer::apply(int, const Peer& peer, StoreRequest request) {
  if (mistake_ == StoreDefect::ServerAppliesCopies) {
    original_[++last_number_] = request.sequence;
    request.sequence = last_number_;
  }
  state_->apply(peer.session, request);
  deliver();
}

void SimulatedStoreServer::deliver() {
  for (cluster::StoreState::Delivery& delivery : state_->take_deliveries()) {
    if (mistake_ == StoreDefect::ServerAppliesCopies) {
      delivery.reply.sequence = original_[delivery.reply.sequence];
    }
    const int to = node_of_.at(delivery.session);
    network_.send(node_, to, seal({Kind::Reply, peers_[to].life, life_, encode(delivery.reply)}));
  }
}

SimulatedStoreClient::SimulatedStoreClient(SimulatedNetwork& network, const Options& options)
    : network_(network), options_(options) {}

void SimulatedStoreClient::start() {
  ++life_;
  server_life_ = 0;
  is_lost_ = is_armed_ = false;
  session_ = cluster::StoreSession({.retry = options_.retry});
  network_.attach(options_.node, [this](int, ByteView message) { receive(message); });
  network_.send(options_.node, options_.server, seal({Kind::Hello, life_, 0, {}}));
  arm();
}

void SimulatedStoreClient::reconnect() {
  ++life_;
  server_life_ = 0;
  is_lost_ = false;
  waiting_.clear();
  calls_.clear();
  session_ = cluster::StoreSession({.retry = options_.retry});
  network_.send(options_.node, options_.server, seal({Kind::Hello, life_, 0, {}}));
  arm();
}

void SimulatedStoreClient::crash() {
  network_.crash(options_.node);
  waiting_.clear();
  calls_.clear();
}

void SimulatedStoreClient::call(StoreRequest request, Done done) {
  waiting_.emplace_back(std::move(request), std::move(done));
  if (server_life_ != 0) begin_waiting();
}

void SimulatedStoreClient::abandon_all() {
  waiting_.clear();
  for (const auto& [slot, done] : calls_) session_.abandon(slot);
  calls_.clear();
}

void SimulatedStoreClient::begin_waiting() {
  if (is_lost_) return lose();
  std::vector<StoreRequest> requests;
  for (auto& [request, done] : std::exchange(waiting_, {})) {
    session_.begin(request, network_.clock().now());
    calls_[request.slot] = std::move(done);
    requests.push_back(std::move(request));
  }
  send_all(requests);
  arm();
}

void SimulatedStoreClient::send_all(const std::vector<StoreRequest>& requests) {
  for (const StoreRequest& request : requests) {
    network_.send(options_.node, options_.server,
                  seal({Kind::Request, life_, server_life_, encode(request)}));
  }
}

void SimulatedStoreClient::receive(ByteView message) {
  const Envelope envelope = unseal(message);
  if (envelope.client_life != life_) return;
  if (envelope.kind == Kind::Welcome && server_life_ == 0) {
    server_life_ = envelope.server_life;
    return begin_waiting();
  }
  if (envelope.server_life != server_life_) {
    if (envelope.kind == Kind::Gone && server_life_ != 0) lose();
    return;
  }
  if (envelope.kind != Kind::Reply) return;
  const StoreReply reply = cluster::decode_store_reply(envelope.body);
  if (!session_.accept(reply)) return;
  const auto it = calls_.find(reply.slot);
  const Done done = std::move(it->second);
  calls_.erase(it);
  done(reply);
}

void SimulatedStoreClient::lose() {
  is_lost_ = true;
  StoreReply reply;
  reply.error = ErrorCode::PeerLost;
  reply.error_text = "the server was restarted";
  for (const auto& [slot, done] : calls_) session_.abandon(slot);
  // Move the calls out first, because a callback may issue a new request.
  const auto calls = std::exchange(calls_, {});
  const auto waiting = std::exchange(waiting_, {});
  for (const auto& [slot, done] : calls) done(reply);
  for (const auto& [request, done] : waiting) done(reply);
}

// The timer runs only while requests are outstanding, so that a simulation ends.
void SimulatedStoreClient::arm() {
  if (is_armed_ || is_lost_ || (server_life_ != 0 && session_.outstanding() == 0)) return;
  is_armed_ = true;
  network_.after(options_.node, options_.retry, [this] {
    is_armed_ = false;
    tick();
  });
}

void SimulatedStoreClient::tick() {
  if (server_life_ == 0) {
    network_.send(options_.node, options_.server, seal({Kind::Hello, life_, 0, {}}));
    return arm();
  }
  std::vector<StoreRequest> again = session_.due(network_.clock().now());
  if (options_.mistake == StoreDefect::ClientRenumbersRetries) {
    for (StoreRequest& request : again) {
      Done done = std::move(calls_.at(request.slot));
      calls_.erase(request.slot);
      session_.abandon(request.slot);
      session_.begin(request, network_.clock().now());
      calls_[request.slot] = std::move(done);
    }
  }
  send_all(again);
  arm();
}

}  // namespace trireme::testing
