#include "trireme/cluster/store/etcd/etcd_store.h"

#include <algorithm>
#include <charconv>
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

std::string quoted(std::string_view key) {
  return "\"" + std::string(key.substr(0, 80)) + "\"";
}

// Checks the bounds that apply to every store, before etcd's own.
void check_bounds(std::string_view key, std::size_t value_size) {
  constexpr StoreBounds kBounds;
  if (key.empty() || key.size() > kBounds.key_size_max) {
    throw Error(ErrorCode::InvalidInput, "a key has 1 to " + std::to_string(kBounds.key_size_max) +
                                             " bytes, not " + std::to_string(key.size()));
  }
  if (value_size > kBounds.value_size_max) {
    throw Error(ErrorCode::Exhausted,
                "the value of " + quoted(key) + " has " + std::to_string(value_size) +
                    " bytes; a store accepts at most " + std::to_string(kBounds.value_size_max));
  }
}

std::int64_t sum_of(std::string_view key, const std::optional<Item>& item, std::int64_t delta) {
  std::int64_t sum = 0;
  if (item) {
    const std::string_view text = text_of(item->value);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), sum);
    if (error != std::errc{} || end != text.data() + text.size()) {
      throw Error(ErrorCode::Mismatch, quoted(key) + " holds no number");
    }
  }
  if (__builtin_add_overflow(sum, delta, &sum)) {
    throw Error(ErrorCode::InvalidInput,
                "adding " + std::to_string(delta) + " to " + quoted(key) + " leaves 64 bits");
  }
  return sum;
}

bool is_equal(const std::optional<Item>& item, std::optional<ByteView> bytes) {
  if (!item || !bytes) return !item && !bytes;
  return std::equal(item->value.begin(), item->value.end(), bytes->begin(), bytes->end());
}

std::optional<Bytes> copy_of(std::optional<ByteView> bytes) {
  return bytes ? std::optional(Bytes(bytes->begin(), bytes->end())) : std::nullopt;
}

std::optional<Bytes> value_of(std::optional<Item> item) {
  return item ? std::optional(std::move(item->value)) : std::nullopt;
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

// Adds the operation and the key to every error.
template <class Call>
auto saying(const char* verb, std::string_view key, Call call) {
  try {
    return call();
  } catch (const Error& error) {
    if (!error.operation().empty()) throw;
    throw error.with_operation(std::string("store ") + verb + " " + quoted(key));
  }
}

}  // namespace

EtcdStore::EtcdStore(const Options& options, Deadline deadline)
    : root_(options.place.root() + "keys/"),
      client_({.members = options.place.members, .patience = options.patience}),
      session_(client_, options.place.root() + "calls/" + secure_random_hex(8) + "/", deadline) {}

std::string EtcdStore::full(std::string_view key) const {
  return root_ + std::string(key);
}

EtcdStore::Found EtcdStore::find(std::string_view key, Deadline deadline) {
  RangeReply reply =
      read_range(client_.call(kRangePath, range_request({.begin = full(key)}), deadline));
  Found found{.item = std::nullopt, .revision = reply.revision};
  if (!reply.items.empty()) found.item = std::move(reply.items.front());
  return found;
}

void EtcdStore::set(std::string_view key, ByteView value, Deadline deadline, Lifetime lifetime) {
  saying("set", key, [&] {
    check_bounds(key, value.size());
    session_.write({.key = full(key), .value = copy_of(value)}, lifetime, deadline);
  });
}

std::optional<Bytes> EtcdStore::get(std::string_view key, Deadline deadline) {
  return saying("get", key, [&] { return value_of(find(key, deadline).item); });
}

Bytes EtcdStore::wait(std::string_view key, Deadline deadline) {
  return saying("wait", key, [&]() -> Bytes {
    for (Duration pause = kPollFirst;; pause = std::min(2 * pause, kPollLast)) {
      const Deadline look = Deadline::after(kLookTime);
      Found found = find(key, deadline.when() < look.when() ? look : deadline);
      if (found.item) return std::move(found.item->value);
      if (deadline.is_past()) throw Error(ErrorCode::Deadline, "it was not set in time");
      if (deadline.remaining() <= kPollMax) {
        std::this_thread::sleep_for(std::min(pause, deadline.remaining()));
        continue;
      }
      EtcdWatch watch(client_, {.begin = full(key)}, root_.size(), found.revision + 1);
      if (std::optional<Bytes> value = value_from(watch, deadline)) return *std::move(value);
    }
  });
}

std::int64_t EtcdStore::add(std::string_view key, std::int64_t delta, Deadline deadline) {
  return saying("add", key, [&] {
    check_bounds(key, 0);
    for (std::optional<Item> current = find(key, deadline).item;;) {
      const std::int64_t sum = sum_of(key, current, delta);
      Writer::Outcome outcome = session_.write({.key = full(key),
                                                .value = to_bytes(std::to_string(sum)),
                                                .if_revision = revision_of(current),
                                                .keeps_lease = current.has_value()},
                                               Lifetime::Job, deadline);
      if (outcome.is_made) return sum;
      current = std::move(outcome.current);
    }
  });
}

SwapResult EtcdStore::compare_and_set(std::string_view key, std::optional<ByteView> expected,
                                      std::optional<ByteView> desired, Deadline deadline,
                                      Lifetime lifetime) {
  return saying("swap", key, [&]() -> SwapResult {
    check_bounds(key, desired ? desired->size() : 0);
    for (std::optional<Item> current = find(key, deadline).item;;) {
      if (!is_equal(current, expected)) {
        return {.swapped = false, .current = value_of(std::move(current))};
      }
      // The key was absent and stays absent, so there is no change to report.
      if (!current && !desired) return {.swapped = true, .current = std::nullopt};
      Writer::Outcome outcome = session_.write(
          {.key = full(key), .value = copy_of(desired), .if_revision = revision_of(current)},
          lifetime, deadline);
      if (outcome.is_made) return {.swapped = true, .current = copy_of(desired)};
      current = std::move(outcome.current);
    }
  });
}

bool EtcdStore::erase(std::string_view key, Deadline deadline) {
  return saying("erase", key, [&] {
    for (std::optional<Item> current = find(key, deadline).item; current;) {
      Writer::Outcome outcome = session_.write({.key = full(key), .if_revision = current->revision},
                                               Lifetime::Job, deadline);
      if (outcome.is_made) return true;
      current = std::move(outcome.current);
    }
    return false;
  });
}

std::vector<StoreChange> EtcdStore::list(std::string_view prefix, Deadline deadline) {
  return saying("list", prefix, [&] {
    const Keys keys = Keys::with_prefix(full(prefix));
    RangeReply reply = read_range(client_.call(kRangePath, range_request(keys), deadline));
    std::vector<StoreChange> changes;
    changes.reserve(reply.items.size());
    for (Item& item : reply.items) {
      changes.push_back({item.key.substr(root_.size()), std::move(item.value), item.revision});
    }
    return changes;
  });
}

std::unique_ptr<Watch> EtcdStore::watch(std::string_view prefix, Deadline deadline) {
  return saying("watch", prefix, [&]() -> std::unique_ptr<Watch> {
    return std::make_unique<EtcdWatch>(client_, Keys::with_prefix(full(prefix)), root_.size(),
                                       deadline);
  });
}

void remove_job(const Place& place, Deadline deadline) {
  Client client({.members = place.members});
  client.call(kErasePath, erase_request(Keys::with_prefix(place.root())), deadline);
}

}  // namespace trireme::cluster::etcd
