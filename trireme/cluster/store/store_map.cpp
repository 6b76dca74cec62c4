#include "trireme/cluster/store/store_map.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "trireme/base/check.h"

namespace trireme::cluster {
namespace {

std::string in_quotes(std::string_view key) {
  constexpr std::size_t kShown = 80;
  return "\"" + std::string(key.substr(0, kShown)) + (key.size() > kShown ? "...\"" : "\"");
}

}  // namespace

void check_key(std::string_view key, const StoreBounds& bounds) {
  if (!key.empty() && key.size() <= bounds.key_size_max) return;
  throw Error(ErrorCode::InvalidInput, "a key has 1 to " + std::to_string(bounds.key_size_max) +
                                           " bytes, not " + std::to_string(key.size()));
}

void check_value(std::string_view key, std::size_t size, const StoreBounds& bounds) {
  if (size <= bounds.value_size_max) return;
  throw Error(ErrorCode::Exhausted, "the value of " + in_quotes(key) + " has " +
                                        std::to_string(size) + " bytes; a store accepts at most " +
                                        std::to_string(bounds.value_size_max));
}

std::int64_t add_to(const Bytes* number, std::int64_t delta, std::string_view key) {
  std::int64_t sum = 0;
  if (number != nullptr) {
    const std::string_view text = text_of(*number);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), sum);
    if (error != std::errc{} || end != text.data() + text.size()) {
      throw Error(ErrorCode::Mismatch, in_quotes(key) + " holds no number");
    }
  }
  if (__builtin_add_overflow(sum, delta, &sum)) {
    throw Error(ErrorCode::InvalidInput,
                "adding " + std::to_string(delta) + " to " + in_quotes(key) + " leaves 64 bits");
  }
  return sum;
}

StoreMap::Plan StoreMap::plan(StoreSessionId session, const StoreRequest& request) const {
  Plan plan;
  bool is_planned = false;
  try {
    is_planned = plan_request(plan, session, request);
  } catch (const Error& error) {
    return {.reply = error_reply(error.code(), error.message())};
  }
  TRIREME_CHECK(is_planned, "the map does not support ", name_of(request.verb));
  return plan;
}

bool StoreMap::plan_request(Plan& plan, StoreSessionId session, const StoreRequest& request) const {
  const StoreSessionId owner = request.lifetime == Lifetime::Session ? session : kNobody;
  switch (request.verb) {
    case StoreVerb::Set:
      if (!request.value) throw Error(ErrorCode::Protocol, "set without a value");
      plan_write(plan, owner, request.key, request.value);
      return true;
    case StoreVerb::Get:
      plan.reply.value = find(request.key);
      return true;
    case StoreVerb::Add:
      plan_add(plan, request);
      return true;
    case StoreVerb::Swap:
      plan_swap(plan, owner, request);
      return true;
    case StoreVerb::Erase:
      plan.reply.flag = entry_of(request.key) != nullptr;
      if (plan.reply.flag) plan_write(plan, owner, request.key, nullptr);
      return true;
    case StoreVerb::List:
      plan_list(plan, request);
      return true;
    case StoreVerb::Wait:
    case StoreVerb::Watch:
    case StoreVerb::Next:
    case StoreVerb::Unwatch:
      break;
  }
  return false;
}

void StoreMap::plan_write(Plan& plan, StoreSessionId owner, const std::string& key,
                          StoreValue value) const {
  check_key(key, bounds_);
  if (value) {
    check_value(key, value->size(), bounds_);
    const Entry* old = entry_of(key);
    const std::size_t replaced = old ? old->value->size() : 0;
    const char* full = "the store is full: it holds ";
    if (!old && entries_.size() >= bounds_.keys_max) {
      throw Error(ErrorCode::Exhausted, full + std::to_string(entries_.size()) + " keys");
    }
    if (bytes_ - replaced + key.size() + value->size() > bounds_.bytes_max) {
      throw Error(ErrorCode::Exhausted, full + std::to_string(bytes_) + " bytes");
    }
  }
  plan.change = Change{key, std::move(value), revision_ + 1, owner};
}

void StoreMap::plan_add(Plan& plan, const StoreRequest& request) const {
  const Entry* old = entry_of(request.key);
  plan.reply.number = add_to(old ? old->value.get() : nullptr, request.delta, request.key);
  plan_write(plan, old ? old->owner : kNobody, request.key,
             share(bytes_of(std::to_string(plan.reply.number))));
}

void StoreMap::plan_swap(Plan& plan, StoreSessionId owner, const StoreRequest& request) const {
  plan.reply.value = find(request.key);
  if (!are_equal(plan.reply.value, request.expected)) return;
  plan.reply.flag = true;
  const StoreValue current = std::exchange(plan.reply.value, request.value);
  // The key was absent and stays absent, so there is no change to report.
  if (current || request.value) plan_write(plan, owner, request.key, request.value);
}

void StoreMap::plan_list(Plan& plan, const StoreRequest& request) const {
  std::size_t size = 0;
  for (auto it = entries_.lower_bound(request.key);
       it != entries_.end() && it->first.starts_with(request.key); ++it) {
    size += it->first.size() + it->second.value->size() + 32;
    if (size > bounds_.reply_size_max) {
      throw Error(ErrorCode::Exhausted, "the keys under " + in_quotes(request.key) + " have over " +
                                            std::to_string(bounds_.reply_size_max) +
                                            " bytes; list a longer prefix");
    }
    plan.reply.items.push_back({it->first, it->second.value, it->second.revision});
  }
}

std::vector<StoreMap::Change> StoreMap::plan_end(StoreSessionId session) const {
  std::vector<Change> changes;
  const auto it = owned_.find(session);
  if (session == kNobody || it == owned_.end()) return changes;
  std::uint64_t revision = revision_;
  for (const std::string& key : it->second) {
    changes.push_back({key, nullptr, ++revision, kNobody});
  }
  return changes;
}

void StoreMap::commit(const Change& change) {
  TRIREME_CHECK(change.revision > revision_, "revision ", change.revision, " after ", revision_);
  revision_ = change.revision;
  const auto it = entries_.find(change.key);
  if (it != entries_.end()) {
    bytes_ -= it->first.size() + it->second.value->size();
    if (const auto owner = owned_.find(it->second.owner); owner != owned_.end()) {
      owner->second.erase(change.key);
      if (owner->second.empty()) owned_.erase(owner);
    }
  }
  if (!change.value) {
    if (it != entries_.end()) entries_.erase(it);
    return;
  }
  bytes_ += change.key.size() + change.value->size();
  if (change.owner != kNobody) owned_[change.owner].insert(change.key);
  entries_.insert_or_assign(change.key, Entry{change.value, change.revision, change.owner});
}

StoreValue StoreMap::find(std::string_view key) const {
  const Entry* entry = entry_of(key);
  return entry ? entry->value : nullptr;
}

std::vector<StoreItem> StoreMap::list(std::string_view prefix) const {
  std::vector<StoreItem> items;
  for (auto it = entries_.lower_bound(prefix);
       it != entries_.end() && it->first.starts_with(prefix); ++it) {
    items.push_back({it->first, it->second.value, it->second.revision});
  }
  return items;
}

std::vector<StoreMap::Change> StoreMap::snapshot() const {
  std::vector<Change> changes;
  changes.reserve(entries_.size());
  for (const auto& [key, entry] : entries_) {
    changes.push_back({key, entry.value, entry.revision, entry.owner});
  }
  std::sort(changes.begin(), changes.end(),
            [](const Change& a, const Change& b) { return a.revision < b.revision; });
  return changes;
}

const StoreMap::Entry* StoreMap::entry_of(std::string_view key) const {
  const auto it = entries_.find(key);
  return it == entries_.end() ? nullptr : &it->second;
}

}  // namespace trireme::cluster
