#include "trireme/cluster/store/etcd/watch.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "trireme/base/error.h"

namespace trireme::cluster::etcd {
namespace {

using namespace std::chrono_literals;

// Pause before a stream that ended is reopened, so that a stream that ends at once costs little.
constexpr Duration kReopenPause = 10ms;

}  // namespace

EtcdWatch::EtcdWatch(EtcdClient& client, Keys keys, std::size_t root_size, Deadline deadline)
    : client_(client), keys_(std::move(keys)), root_size_(root_size) {
  list(deadline);
}

EtcdWatch::EtcdWatch(EtcdClient& client, Keys keys, std::size_t root_size,
                     std::uint64_t from_revision)
    : client_(client),
      keys_(std::move(keys)),
      root_size_(root_size),
      next_revision_(from_revision) {}

StoreChange EtcdWatch::next(Deadline deadline) {
  {
    std::unique_lock lock(mutex_);
    const auto is_free = [this] { return !is_reading_; };
    if (deadline.is_never()) {
      turn_.wait(lock, is_free);
    } else if (!turn_.wait_until(lock, deadline.when(), is_free)) {
      throw Error(ErrorCode::Deadline, "another thread waits for this watch");
    }
    is_reading_ = true;
  }
  struct Turn {
    EtcdWatch& watch;
    ~Turn() {
      const std::lock_guard lock(watch.mutex_);
      watch.is_reading_ = false;
      watch.turn_.notify_one();
    }
  } const turn{*this};
  return next_change(deadline);
}

StoreChange EtcdWatch::next_change(Deadline deadline) {
  while (changes_.empty()) {
    try {
      read(deadline);
    } catch (const Error& error) {
      const bool is_broken =
          error.code() == ErrorCode::PeerLost || error.code() == ErrorCode::Protocol;
      // Without a stream, the client itself gave up.
      if (!is_broken || !stream_) throw;
      stream_.reset();
      std::this_thread::sleep_for(std::min(kReopenPause, deadline.remaining()));
    }
  }
  StoreChange change = std::move(changes_.front());
  changes_.pop_front();
  return change;
}

void EtcdWatch::list(Deadline deadline) {
  RangeReply reply = read_range(client_.call(kRangePath, range_request(keys_), deadline));
  std::sort(reply.items.begin(), reply.items.end(),
            [](const Item& a, const Item& b) { return a.revision < b.revision; });
  std::set<std::string> gone = std::exchange(known_, {});
  for (const Item& item : reply.items) gone.erase(item.key);
  for (const std::string& key : gone) {
    tell({.key = key, .value = std::nullopt, .revision = reply.revision});
  }
  for (Item& item : reply.items) {
    tell({.key = std::move(item.key), .value = std::move(item.value), .revision = item.revision});
  }
  next_revision_ = reply.revision + 1;
}

void EtcdWatch::tell(const Event& event) {
  if (event.value) {
    known_.insert(event.key);
  } else {
    known_.erase(event.key);
  }
  changes_.push_back({.key = event.key.substr(std::min(root_size_, event.key.size())),
                      .value = event.value,
                      .revision = event.revision});
}

void EtcdWatch::read(Deadline deadline) {
  if (!stream_) {
    text_.clear();
    stream_ = client_.open(kWatchPath, watch_request(keys_, next_revision_), deadline);
  }
  const std::string piece = stream_->read(deadline);
  if (piece.empty()) throw Error(ErrorCode::PeerLost, "etcd ended the watch");
  text_ += piece;
  if (text_.size() > net::HttpConnection::kBodyMax) {
    throw Error(ErrorCode::Protocol, "etcd: a line is too long");
  }
  for (std::size_t end = 0; (end = text_.find('\n')) != std::string::npos;) {
    const std::string line = text_.substr(0, end);
    text_.erase(0, end + 1);
    if (!line.empty()) take_line(line, deadline);
  }
}

void EtcdWatch::take_line(const std::string& line, Deadline deadline) {
  const WatchReply reply = read_watch(line);
  if (reply.compacted != 0) {
    return begin_again("etcd has compacted all changes before revision " +
                           std::to_string(reply.compacted) + " and this watch was at " +
                           std::to_string(next_revision_),
                       deadline);
  }
  if (reply.is_ended) throw Error(ErrorCode::PeerLost, "etcd ended the watch: " + reply.reason);
  if (reply.is_created && reply.revision + 1 < next_revision_) {
    return begin_again(
        "etcd is at revision " + std::to_string(reply.revision) + " and was beyond: it lost data",
        deadline);
  }
  for (const Event& event : reply.events) {
    if (event.revision < next_revision_) continue;
    tell(event);
  }
  if (!reply.events.empty()) next_revision_ = reply.events.back().revision + 1;
}

void EtcdWatch::begin_again(const std::string& why, Deadline deadline) {
  list(deadline);
  stream_.reset();
  throw Error(ErrorCode::Exhausted, why + "; it restarts with the existing keys");
}

}  // namespace trireme::cluster::etcd
