#include "trireme/cluster/store/etcd/etcd_store.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "trireme/base/entropy.h"
#include "trireme/base/error.h"
#include "trireme/cluster/store/etcd/watch.h"
#include "trireme/cluster/store/store_map.h"

namespace trireme::cluster::etcd {
namespace {

using namespace std::chrono_literals;

constexpr Duration kPollFirst = 1ms;
constexpr Duration kPollLast = 10ms;

// Checks the bounds that apply to every store, before etcd's own.
void check_bounds(std::string_view key, std::size_t value_size) {
  constexpr StoreBounds kBounds;
  check_key(key, kBounds);
  check_value(key, value_size, kBounds);
}

bool is_equal(const std::optional<Item>& item, const StoreValue& value) {
  return item && value ? item->value == *value : !item && !value;
}

std::optional<Bytes> copy_of(const StoreValue& value) {
  return value ? std::optional(*value) : std::nullopt;
}

StoreValue value_of(std::optional<Item> item) {
  return item ? std::make_shared<const Bytes>(std::move(item->value)) : nullptr;
}

// The next value that is set; nothing if one may have been missed.
std::optional<Bytes> value_from(EtcdWatch& watch, Deadline deadline) {
  try {
    for (;;) {
      if (StoreChange change = watch.next(deadline); change.value) return std::move(change.value);
    }
  } catch (const Error& error) {
    if (error.code() != ErrorCode::Exhausted) throw;
    return std::nullopt;
  }
}

std::uint64_t revision_of(const std::optional<Item>& item) {
  return item ? item->revision : 0;
}

}  // namespace

EtcdStore::EtcdStore(const Options& options, Deadline deadline)
    : root_(options.place.root() + "keys/"),
      client_({.members = options.place.members, .patience = options.patience}),
      session_(client_, options.place.root() + "calls/" + secure_random_hex(8) + "/", deadline) {}
EtcdStore::Found EtcdStore::find(std::string_view key, Deadline deadline) {
  RangeReply reply =
      read_range(client_.call(kRangePath, range_request({.begin = full(key)}), deadline));
  Found found{.item = std::nullopt, .revision = reply.revision};
  if (!reply.items.empty()) found.item = std::move(reply.items.front());
  return found;
}

StoreReply EtcdStore::exchange(StoreRequest request, Deadline deadline) {
  StoreReply reply;
  switch (request.verb) {
    case StoreVerb::Set:
      check_bounds(request.key, request.value->size());
      session_.write({.key = full(request.key), .value = *request.value}, request.lifetime,
                     deadline);
      return reply;
    case StoreVerb::Get:
      reply.value = value_of(find(request.key, deadline).item);
      return reply;
    case StoreVerb::Wait:
      reply.value = wait_for(request.key, deadline);
      return reply;
    case StoreVerb::Add:
      reply.number = add_up(request, deadline);
      return reply;
    case StoreVerb::Swap:
      return swap(request, deadline);
    case StoreVerb::Erase:
      reply.flag = remove(request.key, deadline);
      return reply;
    case StoreVerb::List:
      reply.items = items(request.key, deadline);
      return reply;
    default:
      throw Error(ErrorCode::Misuse, "a watch is not a request to etcd");
  }
}

StoreValue EtcdStore::wait_for(std::string_view key, Deadline deadline) {
  for (Duration pause = kPollFirst;; pause = std::min(2 * pause, kPollLast)) {
    const Deadline look = Deadline::after(kLookTime);
    Found found = find(key, deadline.when() < look.when() ? look : deadline);
    if (found.item) return value_of(std::move(found.item));
    if (deadline.is_past()) throw Error(ErrorCode::Deadline, "it was not set in time");
    if (deadline.remaining() <= kPollMax) {
      std::this_thread::sleep_for(std::min(pause, deadline.remaining()));
      continue;
    }
    EtcdWatch watch(client_, {.begin = full(key)}, root_.size(), found.revision + 1);
    if (const auto value = value_from(watch, deadline)) return share(*value);
  }
}

std::int64_t EtcdStore::add_up(const StoreRequest& request, Deadline deadline) {
  check_bounds(request.key, 0);
  for (std::optional<Item> current = find(request.key, deadline).item;;) {
    const std::int64_t sum =
        add_to(current ? &current->value : nullptr, request.delta, request.key);
    EtcdWriter::Outcome outcome = session_.write({.key = full(request.key),
                                                  .value = to_bytes(std::to_string(sum)),
                                                  .if_revision = revision_of(current),
                                                  .keeps_lease = current.has_value()},
                                                 Lifetime::Job, deadline);
    if (outcome.is_made) return sum;
    current = std::move(outcome.current);
  }
}

StoreReply EtcdStore::swap(const StoreRequest& request, Deadline deadline) {
  check_bounds(request.key, request.value ? request.value->size() : 0);
  StoreReply reply;
  for (std::optional<Item> current = find(request.key, deadline).item;;) {
    reply.flag = is_equal(current, request.expected);
    if (!reply.flag) {
      reply.value = value_of(std::move(current));
      return reply;
    }
    // If the key was absent and stays absent, there is no change to report.
    EtcdWriter::Outcome outcome{.is_made = !current && !request.value};
    if (!outcome.is_made) {
      outcome = session_.write({.key = full(request.key),
                                .value = copy_of(request.value),
                                .if_revision = revision_of(current)},
                               request.lifetime, deadline);
    }
    if (outcome.is_made) {
      reply.value = request.value;
      return reply;
    }
    current = std::move(outcome.current);
  }
}

bool EtcdStore::remove(std::string_view key, Deadline deadline) {
  for (std::optional<Item> current = find(key, deadline).item; current;) {
    EtcdWriter::Outcome outcome = session_.write(
        {.key = full(key), .if_revision = current->revision}, Lifetime::Job, deadline);
    if (outcome.is_made) return true;
    current = std::move(outcome.current);
  }
  return false;
}

std::vector<StoreItem> EtcdStore::items(std::string_view prefix, Deadline deadline) {
  const Keys keys = Keys::with_prefix(full(prefix));
  RangeReply reply = read_range(client_.call(kRangePath, range_request(keys), deadline));
  std::vector<StoreItem> items;
  items.reserve(reply.items.size());
  for (const Item& item : reply.items) {
    items.push_back({item.key.substr(root_.size()), share(item.value), item.revision});
  }
  return items;
}

std::unique_ptr<Watch> EtcdStore::watch(std::string_view prefix, Deadline deadline) {
  try {
    return std::make_unique<EtcdWatch>(client_, Keys::with_prefix(full(prefix)), root_.size(),
                                       deadline);
  } catch (const Error& error) {
    if (!error.operation().empty()) throw;
    throw error.with_operation("store watch \"" + std::string(prefix.substr(0, 80)) + "\"");
  }
}

void remove_job(const EtcdPlace& place, Deadline deadline) {
  EtcdClient client({.members = place.members});
  client.call(kErasePath, erase_request(Keys::with_prefix(place.root())), deadline);
}

}  // namespace trireme::cluster::etcd
