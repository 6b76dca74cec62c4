#include "trireme/cluster/store/message_store.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <utility>

#include "trireme/base/error.h"

namespace trireme::cluster {

// Requests the next batch when the last one is used up. The request contains the number of changes
// seen, so that a batch whose reply came too late is sent again and not lost.
class MessageStore::MessageWatch final : public Watch {
 public:
  MessageWatch(MessageStore& store, std::uint64_t id) : store_(store), id_(id) {}

  ~MessageWatch() override { store_.tell({.verb = StoreVerb::Unwatch, .watch = id_}); }

  // One thread at a time sends a request; the others wait for their turn, each until its own
  // deadline.
  StoreChange next(Deadline deadline) override {
    std::unique_lock lock(mutex_);
    if (!turn_.wait_until(lock, deadline.when(), [&] { return !is_asking_; })) {
      throw Error(ErrorCode::Deadline, "another thread waits for this watch");
    }
    is_asking_ = true;
    struct Turn {
      MessageWatch& watch;
      std::unique_lock<std::mutex>& lock;
      ~Turn() {
        if (!lock.owns_lock()) lock.lock();
        watch.is_asking_ = false;
        watch.turn_.notify_one();
      }
    } const turn{*this, lock};
    lock.unlock();
    while (items_.empty()) fetch(deadline);
    StoreItem item = std::move(items_.front());
    items_.pop_front();
    return {std::move(item.key), item.value ? std::optional(*item.value) : std::nullopt,
            item.revision};
  }

 private:
  void fetch(Deadline deadline) {
    StoreReply reply =
        store_.ask({.verb = StoreVerb::Next, .watch = id_, .taken = taken_}, deadline);
    if (static_cast<std::uint64_t>(reply.number) != taken_) {
      throw Error(ErrorCode::Protocol, "the store skipped changes of a watch");
    }
    taken_ += reply.items.size();
    for (StoreItem& item : reply.items) items_.push_back(std::move(item));
  }

  MessageStore& store_;
  const std::uint64_t id_;
  std::mutex mutex_;
  std::condition_variable turn_;
  bool is_asking_ = false;  // guarded by mutex_; the thread that sends a request uses the members
                            // below
  std::uint64_t taken_ = 0;
  std::deque<StoreItem> items_;
};

std::unique_ptr<Watch> MessageStore::watch(std::string_view prefix, Deadline deadline) {
  const std::uint64_t name = ++last_watch_;
  StoreReply reply;
  try {
    reply = ask({.verb = StoreVerb::Watch, .key = std::string(prefix), .watch = name}, deadline);
  } catch (const Error& error) {
    // The server may have created the watch nevertheless; it would collect changes that are
    // never read.
    if (error.code() == ErrorCode::Deadline) tell({.verb = StoreVerb::Unwatch, .taken = name});
    throw;
  }
  return std::make_unique<MessageWatch>(*this, static_cast<std::uint64_t>(reply.number));
}

}  // namespace trireme::cluster
