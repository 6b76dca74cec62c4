#include "trireme/testing/simulated_store.h"

#include <utility>

#include "trireme/base/check.h"
#include "trireme/base/error.h"

namespace trireme::testing {
namespace {

using cluster::StoreReply;
using cluster::StoreRequest;

// Between two attempts to reach a server that is not running.
constexpr Duration kPause = std::chrono::milliseconds(30);

enum class Kind : std::uint8_t { Hello, Welcome, Request, Reply, Gone };

struct Envelope {
  Kind kind = Kind::Hello;
  std::uint64_t client_life = 0;
  std::uint64_t server_life = 0;
  std::uint64_t call = 0;  // the number of a request and its reply
  Bytes body{};
};

Bytes seal(const Envelope& envelope) {
  ByteWriter out;
  out.put(static_cast<std::uint8_t>(envelope.kind));
  out.put(envelope.client_life).put(envelope.server_life).put(envelope.call);
  out.append(envelope.body);
  return std::move(out).take();
}

Envelope unseal(ByteView message) {
  ByteReader in(message);
  Envelope envelope;
  envelope.kind = static_cast<Kind>(in.get<std::uint8_t>());
  envelope.client_life = in.get<std::uint64_t>();
  envelope.server_life = in.get<std::uint64_t>();
  envelope.call = in.get<std::uint64_t>();
  const ByteView body = in.take(in.remaining());
  envelope.body.assign(body.begin(), body.end());
  return envelope;
}

}  // namespace

SimulatedStoreServer::SimulatedStoreServer(SimulatedNetwork& network, int node)
    : network_(network), node_(node) {}

void SimulatedStoreServer::start() {
  history_.clear();
  begin_life();
  attach();
}

void SimulatedStoreServer::restart() {
  begin_life();
  cluster::StoreMap before;
  for (const cluster::StoreMap::Change& change : history_) before.commit(change);
  for (const cluster::StoreMap::Change& change : before.snapshot()) {
    if (change.owner == cluster::StoreMap::kNobody) state_->learn(change);
  }
  state_->advance(before.revision());
  attach();
}

void SimulatedStoreServer::begin_life() {
  ++life_;
  for (const auto& [node, peer] : peers_) {
    network_.send(node_, node, seal({Kind::Gone, peer.life, life_}));
  }
  peers_.clear();
  node_of_.clear();
  calls_.clear();
  state_ = std::make_unique<cluster::StoreState>(
      cluster::StoreBounds{}, [this](std::span<const cluster::StoreMap::Change> changes) {
        history_.insert(history_.end(), changes.begin(), changes.end());
      });
}

void SimulatedStoreServer::attach() {
  network_.attach(node_, [this](int from, ByteView message) { receive(from, message); });
}

void SimulatedStoreServer::crash() {
  network_.crash(node_);
  is_paused_ = false;
  unread_.clear();
}

void SimulatedStoreServer::resume() {
  is_paused_ = false;
  for (const auto& [from, message] : std::exchange(unread_, {})) receive(from, message);
}

void SimulatedStoreServer::drop(int client) {
  const auto it = peers_.find(client);
  if (it == peers_.end() || it->second.session == 0) return;
  state_->end(std::exchange(it->second.session, 0));
  deliver();
}

void SimulatedStoreServer::receive(int from, ByteView message) {
  if (is_paused_) {
    unread_.emplace_back(from, Bytes(message.begin(), message.end()));
    return;
  }
  const Envelope envelope = unseal(message);
  Peer& peer = peers_[from];
  if (envelope.kind == Kind::Hello) {
    if (envelope.client_life != peer.life) {
      drop(from);
      peer = {envelope.client_life, ++last_session_};
      node_of_[peer.session] = from;
      state_->open(peer.session);
    }
    return network_.send(node_, from, seal({Kind::Welcome, peer.life, life_}));
  }
  if (envelope.server_life != life_) {
    return network_.send(node_, from, seal({Kind::Gone, envelope.client_life, life_}));
  }
  if (envelope.client_life != peer.life || peer.session == 0) return;
  const StoreRequest request = cluster::decode_store_request(envelope.body);
  calls_[{peer.session, request.slot}] = envelope.call;
  state_->apply(peer.session, request);
  deliver();
}

void SimulatedStoreServer::deliver() {
  for (const cluster::StoreState::Delivery& delivery : state_->take_deliveries()) {
    const int to = node_of_.at(delivery.session);
    const std::uint64_t call = calls_.at({delivery.session, delivery.slot});
    network_.send(node_, to,
                  seal({Kind::Reply, peers_[to].life, life_, call, encode(delivery.reply)}));
  }
}

SimulatedStoreClient::SimulatedStoreClient(SimulatedNetwork& network, const Options& options)
    : network_(network), options_(options) {}

void SimulatedStoreClient::start() {
  network_.attach(options_.node, [this](int, ByteView message) { receive(message); });
  connect();
}

void SimulatedStoreClient::reconnect() {
  abandon_all();
  connect();
}

void SimulatedStoreClient::connect() {
  ++life_;
  server_life_ = 0;
  is_lost_ = false;
  say_hello();
}

void SimulatedStoreClient::say_hello() {
  network_.send(options_.node, options_.server, seal({Kind::Hello, life_}));
  network_.after(options_.node, kPause, [this, life = life_] {
    if (life == life_ && server_life_ == 0) say_hello();
  });
}

void SimulatedStoreClient::crash() {
  network_.crash(options_.node);
  abandon_all();
}

void SimulatedStoreClient::call(StoreRequest request, Done done) {
  waiting_.emplace_back(std::move(request), std::move(done));
  if (server_life_ != 0) begin_waiting();
}

void SimulatedStoreClient::abandon_all() {
  waiting_.clear();
  for (const auto& [number, call] : calls_) slots_.release(call.slot);
  calls_.clear();
}

void SimulatedStoreClient::begin_waiting() {
  if (is_lost_) return lose();
  for (auto& [request, done] : std::exchange(waiting_, {})) {
    TRIREME_CHECK(slots_.assign(request), "too many calls of this store at once");
    calls_[++last_call_] = {request.slot, std::move(done)};
    network_.send(options_.node, options_.server,
                  seal({Kind::Request, life_, server_life_, last_call_, encode(request)}));
  }
}

void SimulatedStoreClient::receive(ByteView message) {
  const Envelope envelope = unseal(message);
  if (envelope.client_life != life_) return;
  if (envelope.kind == Kind::Welcome && server_life_ == 0) {
    server_life_ = envelope.server_life;
    return begin_waiting();
  }
  if (envelope.kind == Kind::Gone && server_life_ != 0) return lose();
  const auto it = calls_.find(envelope.call);
  if (envelope.kind != Kind::Reply || it == calls_.end()) return;
  const Done done = std::move(it->second.done);
  slots_.release(it->second.slot);
  calls_.erase(it);
  done(cluster::decode_store_reply(envelope.body));
}

void SimulatedStoreClient::lose() {
  is_lost_ = true;
  const StoreReply reply = cluster::error_reply(ErrorCode::PeerLost, "the server was restarted");
  // Move the calls out first, because a callback may issue a new request.
  const auto calls = calls_;
  const auto waiting = waiting_;
  abandon_all();
  for (const auto& [number, call] : calls) call.done(reply);
  for (const auto& [request, done] : waiting) done(reply);
}

}  // namespace trireme::testing
