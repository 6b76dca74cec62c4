// Goal:   a state machine gets the reply of each request; while it waits it is told from time to
// time,
//         and the caller is told when the deadline has passed.
// Method: a machine that records what it is told, on a LocalStore.

#include "trireme/cluster/store/advance.h"

#include <gtest/gtest.h>

#include "trireme/cluster/store/local_store.h"

namespace trireme::cluster {
namespace {

using namespace std::chrono_literals;

class Machine {
 public:
  explicit Machine(StoreVerb verb) {
    request_.verb = verb;
    request_.key = "k";
  }
  const StoreRequest& request() const { return request_; }
  void on_reply(const StoreReply& reply) { value = reply.value; }
  void on_timeout() { ++timeouts; }

  StoreValue value;
  int timeouts = 0;

 private:
  StoreRequest request_;
};

TEST(Advance, PassesOnTheReply) {
  LocalStore store;
  store.set("k", bytes_of("v"), Deadline::after(30s));
  for (const StoreVerb verb : {StoreVerb::Get, StoreVerb::Wait}) {
    Machine machine(verb);
    EXPECT_TRUE(advance(store, machine, 30s, Deadline::after(30s)));
    EXPECT_EQ(text_of(*machine.value), "v");
  }
}

TEST(Advance, InterruptsAWaitAndEndsAtTheDeadline) {
  LocalStore store;
  Machine machine(StoreVerb::Wait);
  EXPECT_TRUE(advance(store, machine, 1ms, Deadline::after(30s)));
  EXPECT_EQ(machine.timeouts, 1);
  EXPECT_FALSE(advance(store, machine, 30s, Deadline::after(1ms)));
  EXPECT_EQ(machine.timeouts, 1);
  EXPECT_EQ(machine.value, nullptr);
}

}  // namespace
}  // namespace trireme::cluster
