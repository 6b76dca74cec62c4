// Goal:   a request has the same effect as the Store's own function, and errors name the operation
// and
//         the key.
// Method: every verb once on a LocalStore. The functions run on every store in
//         store_conformance_test.cpp.

#include "trireme/cluster/store/store.h"

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

TEST(Store, EveryRequestMatchesTheFunction) {
  LocalStore store;
  const Deadline deadline = Deadline::after(30s);
  StoreRequest set = request_of(StoreVerb::Set, "k/a");
  set.value = share(bytes_of("1"));
  store.ask(set, deadline);
  EXPECT_EQ(text_of(*store.ask(request_of(StoreVerb::Get, "k/a"), deadline).value), "1");
  EXPECT_EQ(store.ask(request_of(StoreVerb::Get, "k/b"), deadline).value, nullptr);
  EXPECT_EQ(text_of(*store.ask(request_of(StoreVerb::Wait, "k/a"), deadline).value), "1");
  StoreRequest add = request_of(StoreVerb::Add, "k/a");
  add.delta = 2;
  EXPECT_EQ(store.ask(add, deadline).number, 3);
  StoreRequest swap = request_of(StoreVerb::Swap, "k/b");
  swap.value = share(bytes_of("x"));
  EXPECT_TRUE(store.ask(swap, deadline).flag);
  swap.value = share(bytes_of("y"));
  const StoreReply refused = store.ask(swap, deadline);
  EXPECT_FALSE(refused.flag);
  EXPECT_EQ(text_of(*refused.value), "x");
  EXPECT_EQ(store.ask(request_of(StoreVerb::List, "k/"), deadline).items.size(), 2u);
  EXPECT_TRUE(store.ask(request_of(StoreVerb::Erase, "k/b"), deadline).flag);
  EXPECT_FALSE(store.ask(request_of(StoreVerb::Erase, "k/b"), deadline).flag);
  EXPECT_EQ(store.get("k/a", deadline), to_bytes("3"));
  EXPECT_FALSE(is_gone(store, deadline));
}

TEST(Store, ErrorsNameTheOperationAndTheKey) {
  LocalStore store;
  try {
    store.wait("k/c", Deadline::after(1ms));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Deadline);
    EXPECT_EQ(error.operation(), "store wait \"k/c\"");
  }
  store.set("k/a", bytes_of("x"), Deadline::after(30s));
  try {
    store.add("k/a", 1, Deadline::after(30s));
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Mismatch);
    EXPECT_EQ(error.operation(), "store add \"k/a\"");
  }
}

}  // namespace
}  // namespace trireme::cluster
