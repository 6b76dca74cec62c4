#include "trireme/cluster/store/message_store.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <utility>

#include "trireme/base/error.h"

namespace trireme::cluster {
namespace {

StoreRequest request_of(StoreVerb verb, std::string_view key) {
  StoreRequest request;
  request.verb = verb;
  request.key = key;
  return request;
}

StoreValue share_if(std::optional<ByteView> bytes) {
  return bytes ? share(*bytes) : nullptr;
}

std::optional<Bytes> copy_if(const StoreValue& value) {
  return value ? std::optional<Bytes>(*value) : std::nullopt;
}

std::string describe(const StoreRequest& request) {
  std::string text = "store ";
  text += name_of(request.verb);
  if (!request.key.empty()) text += " \"" + request.key.substr(0, 80) + "\"";
  return text;
}

}  // namespace

StoreReply MessageStore::ask(StoreRequest request, Deadline deadline) {
  const std::string what = describe(request);
  StoreReply reply;
  try {
    reply = exchange(std::move(request), deadline);
  } catch (const Error& error) {
    throw error.operation().empty() ? error.with_operation(what) : error;
  }
  if (reply.error) throw Error(*reply.error, reply.error_text).with_operation(what);
  return reply;
}

void MessageStore::set(std::string_view key, ByteView value, Deadline deadline, Lifetime lifetime) {
  StoreRequest request = request_of(StoreVerb::Set, key);
  request.value = share(value);
  request.lifetime = lifetime;
  ask(std::move(request), deadline);
}

std::optional<Bytes> MessageStore::get(std::string_view key, Deadline deadline) {
  return copy_if(ask(request_of(StoreVerb::Get, key), deadline).value);
}

Bytes MessageStore::wait(std::string_view key, Deadline deadline) {
  const StoreValue value = ask(request_of(StoreVerb::Wait, key), deadline).value;
  if (!value) throw Error(ErrorCode::Protocol, "the store answered a wait without a value");
  return *value;
}

std::int64_t MessageStore::add(std::string_view key, std::int64_t delta, Deadline deadline) {
  StoreRequest request = request_of(StoreVerb::Add, key);
  request.delta = delta;
  return ask(std::move(request), deadline).number;
}

SwapResult MessageStore::compare_and_set(std::string_view key, std::optional<ByteView> expected,
                                         std::optional<ByteView> desired, Deadline deadline,
                                         Lifetime lifetime) {
  StoreRequest request = request_of(StoreVerb::Swap, key);
  request.expected = share_if(expected);
  request.value = share_if(desired);
  request.lifetime = lifetime;
  const StoreReply reply = ask(std::move(request), deadline);
  return {reply.flag, copy_if(reply.value)};
}

bool MessageStore::erase(std::string_view key, Deadline deadline) {
  return ask(request_of(StoreVerb::Erase, key), deadline).flag;
}

std::vector<StoreChange> MessageStore::list(std::string_view prefix, Deadline deadline) {
  const StoreReply reply = ask(request_of(StoreVerb::List, prefix), deadline);
  std::vector<StoreChange> changes;
  changes.reserve(reply.items.size());
  for (const StoreItem& item : reply.items) {
    changes.push_back({item.key, copy_if(item.value), item.revision});
  }
  return changes;
}

// Requests the next batch when the last one is used up. The request contains the number of changes
// seen, so that a batch whose reply came too late is sent again and not lost.
class MessageStore::MessageWatch final : public Watch {
 public:
  MessageWatch(MessageStore& store, std::uint64_t id) : store_(store), id_(id) {}

  ~MessageWatch() override {
    StoreRequest request = request_of(StoreVerb::Unwatch, {});
    request.watch = id_;
    store_.tell(std::move(request));
  }

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
    return {std::move(item.key), copy_if(item.value), item.revision};
  }

 private:
  void fetch(Deadline deadline) {
    StoreRequest request = request_of(StoreVerb::Next, {});
    request.watch = id_;
    request.taken = taken_;
    StoreReply reply = store_.ask(std::move(request), deadline);
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
  StoreRequest request = request_of(StoreVerb::Watch, prefix);
  const std::uint64_t name = ++last_watch_;
  request.watch = name;
  StoreReply reply;
  try {
    reply = ask(std::move(request), deadline);
  } catch (const Error& error) {
    // The server may have created the watch nevertheless; it would collect changes that are
    // never read.
    StoreRequest unwatch = request_of(StoreVerb::Unwatch, {});
    unwatch.taken = name;
    if (error.code() == ErrorCode::Deadline) tell(std::move(unwatch));
    throw;
  }
  return std::make_unique<MessageWatch>(*this, static_cast<std::uint64_t>(reply.number));
}

}  // namespace trireme::cluster
