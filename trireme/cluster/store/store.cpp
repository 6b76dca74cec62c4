#include "trireme/cluster/store/store.h"

#include <string>
#include <utility>

#include "trireme/base/error.h"

namespace trireme::cluster {
namespace {

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

StoreReply Store::ask(StoreRequest request, Deadline deadline) {
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

void Store::set(std::string_view key, ByteView value, Deadline deadline, Lifetime lifetime) {
  ask({.verb = StoreVerb::Set,
       .key = std::string(key),
       .value = share(value),
       .lifetime = lifetime},
      deadline);
}

std::optional<Bytes> Store::get(std::string_view key, Deadline deadline) {
  return copy_if(ask({.verb = StoreVerb::Get, .key = std::string(key)}, deadline).value);
}

Bytes Store::wait(std::string_view key, Deadline deadline) {
  const StoreValue value = ask({.verb = StoreVerb::Wait, .key = std::string(key)}, deadline).value;
  if (!value) throw Error(ErrorCode::Protocol, "the store answered a wait without a value");
  return *value;
}

std::int64_t Store::add(std::string_view key, std::int64_t delta, Deadline deadline) {
  return ask({.verb = StoreVerb::Add, .key = std::string(key), .delta = delta}, deadline).number;
}

SwapResult Store::compare_and_set(std::string_view key, std::optional<ByteView> expected,
                                  std::optional<ByteView> desired, Deadline deadline,
                                  Lifetime lifetime) {
  const StoreReply reply = ask({.verb = StoreVerb::Swap,
                                .key = std::string(key),
                                .value = share_if(desired),
                                .expected = share_if(expected),
                                .lifetime = lifetime},
                               deadline);
  return {reply.flag, copy_if(reply.value)};
}

bool Store::erase(std::string_view key, Deadline deadline) {
  return ask({.verb = StoreVerb::Erase, .key = std::string(key)}, deadline).flag;
}

std::vector<StoreChange> Store::list(std::string_view prefix, Deadline deadline) {
  const StoreReply reply = ask({.verb = StoreVerb::List, .key = std::string(prefix)}, deadline);
  std::vector<StoreChange> changes;
  changes.reserve(reply.items.size());
  for (const StoreItem& item : reply.items) {
    changes.push_back({item.key, copy_if(item.value), item.revision});
  }
  return changes;
}

bool is_gone(Store& store, Deadline deadline) {
  try {
    store.get("anybody", deadline);
    return false;
  } catch (const Error& error) {
    return error.code() == ErrorCode::PeerLost;
  }
}

}  // namespace trireme::cluster
