// Goal:   a request has the same effect on any Store as the Store's own function.
// Method: every verb once on a LocalStore.

#include "trireme/cluster/store/store_call.h"

#include <gtest/gtest.h>

#include "trireme/base/error.h"
#include "trireme/cluster/store/local_store.h"

namespace trireme::cluster {
namespace {

using namespace std::chrono_literals;

StoreRequest request_of(StoreVerb verb, const std::string& key) {
  StoreRequest request;
  request.verb = verb;
  request.key = key;
  return request;
}

TEST(StoreCall, EveryVerbExceptWatchMatchesTheStoresFunction) {
  LocalStore store;
  const Deadline deadline = Deadline::after(30s);
  StoreRequest set = request_of(StoreVerb::Set, "k/a");
  set.value = share(bytes_of("1"));
  ask(store, set, deadline);
  EXPECT_EQ(text_of(*ask(store, request_of(StoreVerb::Get, "k/a"), deadline).value), "1");
  EXPECT_EQ(ask(store, request_of(StoreVerb::Get, "k/b"), deadline).value, nullptr);
  EXPECT_EQ(text_of(*ask(store, request_of(StoreVerb::Wait, "k/a"), deadline).value), "1");
  StoreRequest add = request_of(StoreVerb::Add, "k/a");
  add.delta = 2;
  EXPECT_EQ(ask(store, add, deadline).number, 3);
  StoreRequest swap = request_of(StoreVerb::Swap, "k/b");
  swap.value = share(bytes_of("x"));
  EXPECT_TRUE(ask(store, swap, deadline).flag);
  swap.value = share(bytes_of("y"));
  const StoreReply refused = ask(store, swap, deadline);
  EXPECT_FALSE(refused.flag);
  EXPECT_EQ(text_of(*refused.value), "x");
  EXPECT_EQ(ask(store, request_of(StoreVerb::List, "k/"), deadline).items.size(), 2u);
  EXPECT_TRUE(ask(store, request_of(StoreVerb::Erase, "k/b"), deadline).flag);
  EXPECT_FALSE(ask(store, request_of(StoreVerb::Erase, "k/b"), deadline).flag);
  EXPECT_THROW(ask(store, request_of(StoreVerb::Watch, "k/"), deadline), Error);
  EXPECT_THROW(ask(store, request_of(StoreVerb::Wait, "k/c"), Deadline::after(1ms)), Error);
}

}  // namespace
}  // namespace trireme::cluster
