#include "trireme/cluster/store/store_service.h"

namespace trireme::cluster {
namespace {

// The network may number its sessions from zero; the store reserves zero for "no session".
StoreSessionId id_of(net::SessionId session) {
  return session + 1;
}

}  // namespace

void StoreService::on_request(const net::Request& request) {
  if (request.method != kStoreMethod) {
    throw Error(ErrorCode::Unsupported,
                "the store has no method " + std::to_string(request.method));
  }
  const StoreRequest message = decode_store_request(request.payload);
  const StoreSessionId session = id_of(request.session);
  if (!state_.is_open(session)) state_.open(session);
  if (request.caller) {
    callers_[{session, message.slot}] = request.caller;
  } else {
    callers_.erase({session, message.slot});
  }
  state_.apply(session, message);
  deliver();
}

void StoreService::on_session_end(net::SessionId session) {
  const StoreSessionId id = id_of(session);
  callers_.erase(callers_.lower_bound({id, 0}), callers_.lower_bound({id + 1, 0}));
  state_.end(id);
  deliver();
}

void StoreService::deliver() {
  for (const StoreState::Delivery& delivery : state_.take_deliveries()) {
    const auto it = callers_.find({delivery.session, delivery.slot});
    if (it == callers_.end()) continue;
    const std::shared_ptr<net::Caller> caller = std::move(it->second);
    callers_.erase(it);
    caller->reply(encode(delivery.reply));
  }
}

}  // namespace trireme::cluster
