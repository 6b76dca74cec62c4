// Goal:   the transfers of an operation are removed as they complete, and transfers that are
//         dropped before completion are cancelled, so that released memory is never written.
// Method: a messenger that records the calls and completes transfers when the test says so.

#include "trireme/comm/algorithm/messenger.h"

#include <gtest/gtest.h>

#include "tests/comm/fake_messenger.h"

namespace trireme::comm {
namespace {

TEST(Messenger, AnUnfinishedTransferIsCancelled) {
  FakeMessenger messenger;
  const Transfer* dropped = nullptr;
  {
    Transfer finished(messenger), unfinished(messenger), never_begun(messenger);
    messenger.send(1, {}, {}, finished);
    messenger.send(2, {}, {}, unfinished);
    finished.is_done = true;
    dropped = &unfinished;
  }
  ASSERT_EQ(messenger.cancelled.size(), 1u);
  EXPECT_EQ(messenger.cancelled[0], dropped);
}

TEST(Messenger, TransfersAreDoneWhenAllAreComplete) {
  FakeMessenger messenger;
  Transfers transfers(messenger);
  EXPECT_TRUE(transfers.all_done()) << "of none";
  for (int peer = 1; peer <= 3; ++peer) transfers.send(peer, {}, {});
  messenger.begun[2]->is_done = true;
  EXPECT_FALSE(transfers.all_done());
  messenger.begun[0]->is_done = true;
  EXPECT_FALSE(transfers.all_done());
  messenger.begun[1]->is_done = true;
  EXPECT_TRUE(transfers.all_done());
  EXPECT_TRUE(messenger.cancelled.empty());
}

TEST(Messenger, TransfersMayBeAwaitedOneByOne) {
  FakeMessenger messenger;
  Transfers transfers(messenger);
  transfers.receive(1, {}, {});
  transfers.receive(2, {}, {});
  EXPECT_FALSE(transfers.first_done());
  messenger.begun[0]->is_done = true;
  EXPECT_TRUE(transfers.first_done());
  transfers.drop_first();
  EXPECT_FALSE(transfers.first_done()) << "the second transfer is complete, too";
}

TEST(Messenger, IdsAreOrderedByGroupThenOperationThenChannel) {
  EXPECT_LT((MessageId{1, 9, 9}), (MessageId{2, 0, 0}));
  EXPECT_LT((MessageId{1, 1, 9}), (MessageId{1, 2, 0}));
  EXPECT_LT((MessageId{1, 1, 1}), (MessageId{1, 1, 2}));
  EXPECT_EQ((MessageId{1, 1, 1}), (MessageId{1, 1, 1}));
}

}  // namespace
}  // namespace trireme::comm
