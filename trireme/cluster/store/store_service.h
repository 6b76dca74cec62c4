// StoreService offers a StoreState to the sessions of a net::Server; RemoteStore is its client.
//
//   net::Server server(options, {{kStoreServiceNumber, std::make_shared<StoreService>()}});
//
// A connection is a session of the store: when it closes for any reason, its pending waits are
// dropped and its session-bound keys are erased.
//
// Thread safety: the server's loop thread only.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "trireme/cluster/store/store_state.h"
#include "trireme/net/service.h"

namespace trireme::cluster {

inline constexpr std::uint8_t kStoreServiceNumber = 1;
inline constexpr std::uint16_t kStoreMethod = 0x0100;

class StoreService final : public net::Service {
 public:
  // `journal` receives each change before it is applied; see store_log.h.
  explicit StoreService(const StoreBounds& bounds = {}, StoreState::Journal journal = {})
      : state_(bounds, std::move(journal)) {}

  // Restores a change of the previous server. REQUIRES: called before the service is given to a
  // server.
  void learn(const StoreMap::Change& change) { state_.learn(change); }
  void advance(std::uint64_t revision) { state_.advance(revision); }
  std::uint64_t revision() const noexcept { return state_.map().revision(); }

  void on_request(const net::Request& request) override;
  void on_session_end(net::SessionId session) override;

 private:
  void deliver();

  StoreState state_;
  // The caller that waits for the reply of each slot; a slot has one request at a time.
  std::map<std::pair<StoreSessionId, std::uint16_t>, std::shared_ptr<net::Caller>> callers_;
};

}  // namespace trireme::cluster
