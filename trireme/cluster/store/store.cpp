#include "trireme/cluster/store/store.h"

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
  StoreRequest request = request_of(StoreVerb::Set, key);
  request.value = share(value);
  request.lifetime = lifetime;
  ask(std::move(request), deadline);
}

std::optional<Bytes> Store::get(std::string_view key, Deadline deadline) {
  return copy_if(ask(request_of(StoreVerb::Get, key), deadline).value);
}

Bytes Store::wait(std::string_view key, Deadline deadline) {
  const StoreValue value = ask(request_of(StoreVerb::Wait, key), deadline).value;
  if (!value) throw Error(ErrorCode::Protocol, "the store answered a wait without a value");
  return *value;
}

std::int64_t Store::add(std::string_view key, std::int64_t delta, Deadline deadline) {
  StoreRequest request = request_of(StoreVerb::Add, key);
  request.delta = delta;
  return ask(std::move(request), deadline).number;
}

SwapResult Store::compare_and_set(std::string_view key, std::optional<ByteView> expected,
                                  std::optional<ByteView> desired, Deadline deadline,
                                  Lifetime lifetime) {
  StoreRequest request = request_of(StoreVerb::Swap, key);
  request.expected = share_if(expected);
  request.value = share_if(desired);
  request.lifetime = lifetime;
  const StoreReply reply = ask(std::move(request), deadline);
  return {reply.flag, copy_if(reply.value)};
}

bool Store::erase(std::string_view key, Deadline deadline) {
  return ask(request_of(StoreVerb::Erase, key), deadline).flag;
}

std::vector<StoreChange> Store::list(std::string_view prefix, Deadline deadline) {
  const StoreReply reply = ask(request_of(StoreVerb::List, prefix), deadline);
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
