#include "trireme/cluster/store/store_call.h"

#include <optional>
#include <utility>

#include "trireme/base/check.h"
#include "trireme/base/error.h"

namespace trireme::cluster {
namespace {

std::optional<ByteView> view_of(const StoreValue& value) {
  return value ? std::optional<ByteView>(*value) : std::nullopt;
}

StoreValue share_if(const std::optional<Bytes>& bytes) {
  return bytes ? share(*bytes) : nullptr;
}

StoreReply swap(Store& store, const StoreRequest& request, Deadline deadline) {
  const SwapResult result = store.compare_and_set(
      request.key, view_of(request.expected), view_of(request.value), deadline, request.lifetime);
  StoreReply reply;
  reply.flag = result.swapped;
  reply.value = share_if(result.current);
  return reply;
}

}  // namespace

bool is_gone(Store& store, Deadline deadline) {
  try {
    store.get("anybody", deadline);
    return false;
  } catch (const Error& error) {
    return error.code() == ErrorCode::PeerLost;
  }
}

StoreReply ask(Store& store, const StoreRequest& request, Deadline deadline) {
  StoreReply reply;
  switch (request.verb) {
    case StoreVerb::Set:
      TRIREME_CHECK(request.value, "nothing to set");
      store.set(request.key, *request.value, deadline, request.lifetime);
      return reply;
    case StoreVerb::Get:
      reply.value = share_if(store.get(request.key, deadline));
      return reply;
    case StoreVerb::Wait:
      reply.value = share(store.wait(request.key, deadline));
      return reply;
    case StoreVerb::Add:
      reply.number = store.add(request.key, request.delta, deadline);
      return reply;
    case StoreVerb::Swap:
      return swap(store, request, deadline);
    case StoreVerb::Erase:
      reply.flag = store.erase(request.key, deadline);
      return reply;
    case StoreVerb::List:
      for (StoreChange& entry : store.list(request.key, deadline)) {
        reply.items.push_back({std::move(entry.key), share(*entry.value), entry.revision});
      }
      return reply;
    default:
      TRIREME_CHECK(false, name_of(request.verb), " is not a request to a store");
      return reply;
  }
}

}  // namespace trireme::cluster
