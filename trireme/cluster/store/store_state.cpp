#include "trireme/cluster/store/store_state.h"

#include <algorithm>
#include <utility>

#include "trireme/base/check.h"

namespace trireme::cluster {
namespace {

// A batch of changes is sent when it has this many items or bytes, whichever comes first.
constexpr std::size_t kBatchItems = 256;
constexpr std::size_t kBatchBytes = std::size_t{1} << 20;

}  // namespace

StoreState::StoreState(const StoreBounds& bounds, Journal journal)
    : map_(bounds), journal_(std::move(journal)) {}

void StoreState::open(StoreSessionId session) {
  TRIREME_CHECK(session != StoreMap::kNobody, "session 0 is reserved");
  TRIREME_CHECK(!is_open(session), "session ", session, " is open already");
  sessions_.try_emplace(session);
}

void StoreState::end(StoreSessionId session) {
  const std::vector<StoreMap::Change> changes = map_.plan_end(session);
  if (journal_ && !changes.empty()) journal_(changes);
  if (const auto it = sessions_.find(session); it != sessions_.end()) {
    Session& owner = it->second;
    while (!owner.awaited.empty()) release(session, owner.awaited.begin()->first);
    const std::set<std::uint64_t> watches = owner.watches;
    for (std::uint64_t id : watches) unwatch(id);
    sessions_.erase(it);
  }
  for (const StoreMap::Change& change : changes) commit(change);
}

void StoreState::apply(StoreSessionId session, const StoreRequest& request) {
  if (!is_open(session)) return;
  if (request.slot >= map_.bounds().slots_max) {
    return answer(session, request.slot, error_reply(ErrorCode::Protocol, "no such slot"));
  }
  release(session, request.slot);
  dispatch(session, request);
}
std::size_t StoreState::waiter_count() const noexcept {
  std::size_t count = 0;
  for (const auto& [key, waiters] : waiters_) count += waiters.size();
  for (const auto& [id, watch] : watches_) count += watch.parked ? 1 : 0;
  return count;
}

void StoreState::dispatch(StoreSessionId session, const StoreRequest& request) {
  switch (request.verb) {
    case StoreVerb::Wait:
      return wait(session, request);
    case StoreVerb::Watch:
      return watch(session, request);
    case StoreVerb::Next:
      return next(session, request);
    case StoreVerb::Unwatch: {
      const auto it = watches_.find(request.watch);
      const bool is_ours = it != watches_.end() && it->second.session == session;
      if (is_ours) unwatch(request.watch);
      if (request.watch == 0) unwatch_named(session, request.taken);
      StoreReply reply;
      reply.flag = is_ours;
      return answer(session, request.slot, std::move(reply));
    }
    default:
      return change(session, request);
  }
}

void StoreState::change(StoreSessionId session, const StoreRequest& request) {
  StoreMap::Plan plan = map_.plan(session, request);
  if (plan.change && journal_) {
    try {
      journal_({&*plan.change, 1});
    } catch (const Error& error) {
      return answer(session, request.slot, error_reply(error.code(), error.message()));
    }
  }
  answer(session, request.slot, std::move(plan.reply));
  if (plan.change) commit(*plan.change);
}

void StoreState::wait(StoreSessionId session, const StoreRequest& request) {
  if (request.key.empty() || request.key.size() > map_.bounds().key_size_max) {
    return answer(
        session, request.slot,
        error_reply(ErrorCode::InvalidInput, "no session can set a key of " +
                                                 std::to_string(request.key.size()) + " bytes"));
  }
  StoreReply reply;
  reply.value = map_.find(request.key);
  if (reply.value) return answer(session, request.slot, std::move(reply));
  waiters_[request.key].push_back({session, request.slot});
  sessions_.at(session).awaited[request.slot] = request.key;
}

void StoreState::watch(StoreSessionId session, const StoreRequest& request) {
  const StoreBounds& bounds = map_.bounds();
  Session& owner = sessions_.at(session);
  if (owner.watches.size() >= bounds.watches_max || request.key.size() > bounds.key_size_max) {
    return answer(
        session, request.slot,
        error_reply(ErrorCode::Exhausted,
                    "a session has at most " + std::to_string(bounds.watches_max) + " watches"));
  }
  const std::uint64_t id = ++last_watch_;
  WatchEntry entry;
  entry.session = session;
  entry.name = request.watch;
  entry.prefix = request.key;
  std::vector<StoreItem> items = map_.list(request.key);
  std::sort(items.begin(), items.end(),
            [](const StoreItem& a, const StoreItem& b) { return a.revision < b.revision; });
  entry.items.assign(std::make_move_iterator(items.begin()), std::make_move_iterator(items.end()));
  entry.has_lagged = entry.items.size() > bounds.watch_items_max;
  watches_.emplace(id, std::move(entry));
  owner.watches.insert(id);
  watches_of_prefix_[request.key].insert(id);
  ++prefix_sizes_[request.key.size()];
  StoreReply reply;
  reply.number = static_cast<std::int64_t>(id);
  answer(session, request.slot, std::move(reply));
}

void StoreState::next(StoreSessionId session, const StoreRequest& request) {
  const auto it = watches_.find(request.watch);
  if (it == watches_.end() || it->second.session != session) {
    return answer(session, request.slot, error_reply(ErrorCode::NotFound, "no such watch"));
  }
  WatchEntry& watch = it->second;
  while (watch.first < request.taken && !watch.items.empty()) {
    watch.items.pop_front();
    ++watch.first;
  }
  if (watch.parked) {
    answer(session, *watch.parked,
           error_reply(ErrorCode::Aborted, "another call took over the watch"));
  }
  watch.parked = request.slot;
  if (!watch.items.empty() || watch.has_lagged) answer_next(watch, request.slot);
}

void StoreState::answer_next(WatchEntry& watch, std::uint16_t slot) {
  watch.parked.reset();
  if (watch.has_lagged) {
    return answer(watch.session, slot,
                  error_reply(ErrorCode::Exhausted,
                              "the watch of \"" + watch.prefix + "\" lagged by more than " +
                                  std::to_string(map_.bounds().watch_items_max) + " changes"));
  }
  StoreReply reply;
  reply.number = static_cast<std::int64_t>(watch.first);
  std::size_t size = 0;
  for (const StoreItem& item : watch.items) {
    reply.items.push_back(item);
    size += item.key.size() + (item.value ? item.value->size() : 0);
    if (reply.items.size() >= kBatchItems || size >= kBatchBytes) break;
  }
  answer(watch.session, slot, std::move(reply));
}

void StoreState::unwatch_named(StoreSessionId session, std::uint64_t name) {
  for (const std::uint64_t id : sessions_.at(session).watches) {
    if (name == 0 || watches_.at(id).name != name) continue;
    unwatch(id);
    return;
  }
}

void StoreState::unwatch(std::uint64_t id) {
  const auto it = watches_.find(id);
  const std::string& prefix = it->second.prefix;
  std::set<std::uint64_t>& peers = watches_of_prefix_[prefix];
  peers.erase(id);
  if (peers.empty()) watches_of_prefix_.erase(prefix);
  if (const auto size = prefix_sizes_.find(prefix.size()); --size->second == 0) {
    prefix_sizes_.erase(size);
  }
  sessions_.at(it->second.session).watches.erase(id);
  watches_.erase(it);
}

void StoreState::answer(StoreSessionId session, std::uint16_t slot, StoreReply reply) {
  deliveries_.push_back({session, slot, std::move(reply)});
}

void StoreState::release(StoreSessionId session, std::uint16_t slot) {
  Session& owner = sessions_.at(session);
  if (const auto awaited = owner.awaited.extract(slot)) {
    const auto it = waiters_.find(awaited.mapped());
    std::erase_if(it->second, [&](const Waiter& waiter) {
      return waiter.session == session && waiter.slot == slot;
    });
    if (it->second.empty()) waiters_.erase(it);
  }
  for (std::uint64_t id : owner.watches) {
    WatchEntry& watch = watches_.at(id);
    if (watch.parked == slot) watch.parked.reset();
  }
}

void StoreState::commit(const StoreMap::Change& change) {
  map_.commit(change);
  if (change.value) wake_waiters(change);
  feed_watches(change);
}

void StoreState::wake_waiters(const StoreMap::Change& change) {
  const auto it = waiters_.find(change.key);
  if (it == waiters_.end()) return;
  const std::vector<Waiter> woken = std::move(it->second);
  waiters_.erase(it);
  for (const Waiter& waiter : woken) {
    sessions_.at(waiter.session).awaited.erase(waiter.slot);
    StoreReply reply;
    reply.value = change.value;
    answer(waiter.session, waiter.slot, std::move(reply));
  }
}

void StoreState::feed_watches(const StoreMap::Change& change) {
  for (const auto& [size, count] : prefix_sizes_) {
    if (size > change.key.size()) break;
    const auto it = watches_of_prefix_.find(change.key.substr(0, size));
    if (it == watches_of_prefix_.end()) continue;
    for (std::uint64_t id : it->second) {
      WatchEntry& watch = watches_.at(id);
      if (watch.items.size() >= map_.bounds().watch_items_max) watch.has_lagged = true;
      if (watch.has_lagged) {
        watch.items.clear();
      } else {
        watch.items.push_back({change.key, change.value, change.revision});
      }
      if (watch.parked) answer_next(watch, *watch.parked);
    }
  }
}

}  // namespace trireme::cluster
