#include "trireme/cluster/store/local_store.h"

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "trireme/cluster/store/store_slots.h"
#include "trireme/cluster/store/store_state.h"

namespace trireme::cluster {

// `mutex` guards everything below. Each caller waits on its own Call, so that a reply wakes one
// thread and not all of them.
struct LocalStore::Shared {
  struct Call {
    std::condition_variable answered;
    std::optional<StoreReply> reply;
  };

  explicit Shared(const StoreBounds& bounds) : state(bounds) {}

  void deliver() {
    for (StoreState::Delivery& delivery : state.take_deliveries()) {
      const auto it = calls.find({delivery.session, delivery.slot});
      if (it == calls.end()) continue;
      it->second->reply = std::move(delivery.reply);
      it->second->answered.notify_one();
    }
  }

  std::mutex mutex;
  StoreState state;
  std::map<std::pair<StoreSessionId, std::uint16_t>, Call*> calls;
  StoreSessionId last_session = 0;
};

class LocalStore::Session {
 public:
  explicit Session(Shared& shared) : shared_(shared) {
    const std::lock_guard lock(shared_.mutex);
    id_ = ++shared_.last_session;
    shared_.state.open(id_);
  }

  ~Session() {
    const std::lock_guard lock(shared_.mutex);
    shared_.state.end(id_);
    shared_.deliver();
  }

  StoreReply exchange(StoreRequest request, Deadline deadline) {
    std::unique_lock lock(shared_.mutex);
    const bool has_slot =
        slot_freed_.wait_until(lock, deadline.when(), [&] { return slots_.assign(request); });
    if (!has_slot) throw Error(ErrorCode::Deadline, "too many calls of this store at once");
    Shared::Call call;
    shared_.calls[{id_, request.slot}] = &call;
    shared_.state.apply(id_, request);
    shared_.deliver();
    call.answered.wait_until(lock, deadline.when(), [&] { return call.reply.has_value(); });
    shared_.calls.erase({id_, request.slot});
    slots_.release(request.slot);
    slot_freed_.notify_one();
    if (!call.reply) throw Error(ErrorCode::Deadline, "time is up");
    return *std::move(call.reply);
  }

  void tell(StoreRequest request) {
    const std::lock_guard lock(shared_.mutex);
    if (!slots_.assign(request)) return;
    shared_.state.apply(id_, request);
    shared_.deliver();
    slots_.release(request.slot);
  }

 private:
  Shared& shared_;
  StoreSessionId id_ = 0;
  StoreSlots slots_;
  std::condition_variable slot_freed_;
};

LocalStore::LocalStore(const StoreBounds& bounds) : LocalStore(std::make_shared<Shared>(bounds)) {}

LocalStore::LocalStore(std::shared_ptr<Shared> shared)
    : shared_(std::move(shared)), session_(std::make_unique<Session>(*shared_)) {}

LocalStore::~LocalStore() {
  session_.reset();
}

std::unique_ptr<LocalStore> LocalStore::open_session() const {
  return std::unique_ptr<LocalStore>(new LocalStore(shared_));
}

StoreReply LocalStore::exchange(StoreRequest request, Deadline deadline) {
  return session_->exchange(std::move(request), deadline);
}

void LocalStore::tell(StoreRequest request) noexcept {
  try {
    session_->tell(std::move(request));
  } catch (const std::exception&) {
    // Only an allocation can fail here; the end of the session cleans up.
  }
}

}  // namespace trireme::cluster
