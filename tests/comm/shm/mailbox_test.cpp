// Goal:   tagged messages arrive complete, in order per tag, from ordinary memory and from the
//         arena, within the specified bound for unread messages; a wrong length is reported.
// Method: sender and receiver are two tasks of one thread, stepped in every relevant order.

#include "trireme/comm/shm/mailbox.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

namespace trireme::comm::shm {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kWindow = kLetterWindow;
constexpr int kFew = 4;

class MailboxTest : public ::testing::Test {
 protected:
  struct Member {
    Member(const std::shared_ptr<Arena>& arena, int me, std::uint64_t key)
        : lanes(arena, {{0, 10}, {1, 11}}, me, key, Deadline::after(10s)), mailbox(lanes) {}
    Lanes lanes;
    Mailbox mailbox;
  };
  struct Message {
    Operation op;
    Task task;
    bool step() { return task.step() == Task::Step::Done; }
  };

  std::unique_ptr<Message> message(OpKind kind, int peer, std::uint32_t tag, std::size_t size) {
    auto message = std::make_unique<Message>();
    message->op.request = {.kind = kind, .type = DType::UInt8, .count = size};
    message->op.peer = peer;
    message->op.tag = tag;
    message->op.deadline = Deadline::after(10s);
    return message;
  }
  std::unique_ptr<Message> send(const void* data, std::size_t size, std::uint32_t tag = 0) {
    auto sent = message(OpKind::Send, 1, tag, size);
    sent->op.input = static_cast<const std::byte*>(data);
    sent->task = first_->mailbox.send(sent->op);
    sent->step();
    return sent;
  }
  std::unique_ptr<Message> receive(void* data, std::size_t size, std::uint32_t tag = 0) {
    auto received = message(OpKind::Receive, 0, tag, size);
    received->op.output = static_cast<std::byte*>(data);
    received->task = second_->mailbox.receive(received->op);
    received->step();
    return received;
  }
  static std::vector<std::uint8_t> numbers(std::size_t size) {
    std::vector<std::uint8_t> values(size);
    for (std::size_t i = 0; i < size; ++i) values[i] = static_cast<std::uint8_t>(i * 7 + i / 251);
    return values;
  }

  std::shared_ptr<Arena> arena_ = Arena::create({.members = 2});
  std::optional<Member> first_{std::in_place, arena_, 0, 5};
  std::optional<Member> second_{std::in_place, arena_, 1, 5};
};

TEST_F(MailboxTest, ASmallMessageCompletesTheSendAtOnce) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{3}, kWindow}) {
    std::vector<std::uint8_t> data = numbers(size), got(size);
    const auto sent = send(data.data(), size);
    EXPECT_TRUE(sent->task.is_done());
    std::memset(data.data(), 0, size);
    EXPECT_TRUE(receive(got.data(), size)->task.is_done());
    EXPECT_EQ(got, numbers(size));
  }
}

TEST_F(MailboxTest, AReceiverMayWaitFirst) {
  std::uint8_t got = 0, data = 42;
  const auto received = receive(&got, 1);
  EXPECT_FALSE(received->task.is_done());
  const auto sent = send(&data, 1);
  EXPECT_TRUE(received->step());
  EXPECT_EQ(got, 42);
}

TEST_F(MailboxTest, LargeMessagesStreamThroughTwoWindows) {
  for (const std::size_t size : {kWindow + 1, 2 * kWindow, 10 * kWindow + 17}) {
    const std::vector<std::uint8_t> data = numbers(size);
    std::vector<std::uint8_t> got(size);
    const auto sent = send(data.data(), size);
    EXPECT_FALSE(sent->task.is_done()) << "the data is still the sender's";
    const auto received = receive(got.data(), size);
    int steps = 0;
    while (!(sent->step() & received->step())) ASSERT_LT(++steps, 1000);
    EXPECT_EQ(got, data);
  }
}

TEST_F(MailboxTest, FromTheArenaDataIsCopiedOnce) {
  const ArenaPiece piece = arena_->allocate(0, 3 * kWindow);
  const std::vector<std::uint8_t> data = numbers(3 * kWindow);
  std::memcpy(piece.data(), data.data(), data.size());
  std::vector<std::uint8_t> got(data.size());
  const auto sent = send(piece.data(), data.size());
  EXPECT_FALSE(sent->step()) << "the receiver reads it in place";
  EXPECT_TRUE(receive(got.data(), got.size())->task.is_done()) << "in one step";
  EXPECT_TRUE(sent->step());
  EXPECT_EQ(got, data);
}

TEST_F(MailboxTest, MessagesOfOneTagKeepTheirOrder) {
  std::uint8_t got = 0;
  for (std::uint8_t round = 0; round < 10; ++round) {
    for (std::uint8_t i = 1; i <= kFew; ++i) {
      const auto data = static_cast<std::uint8_t>(round * 10 + i);
      EXPECT_TRUE(send(&data, 1)->task.is_done());
    }
    for (std::uint8_t i = 1; i <= kFew; ++i) {
      EXPECT_TRUE(receive(&got, 1)->task.is_done());
      EXPECT_EQ(got, round * 10 + i);
    }
  }
}

TEST_F(MailboxTest, TagsAreReceivedInAnyOrder) {
  for (std::uint8_t tag = 1; tag <= kFew; ++tag) send(&tag, 1, tag);
  std::uint8_t got = 0;
  for (const std::uint8_t tag : {3, 1, 4, 2}) {
    EXPECT_TRUE(receive(&got, 1, tag)->task.is_done());
    EXPECT_EQ(got, tag);
  }
  EXPECT_FALSE(receive(&got, 1, 9)->task.is_done());
}

TEST_F(MailboxTest, NoMessageWaitsBehindOneOfAnotherTag) {
  std::vector<std::uint8_t> data(kUnreadMax);
  std::iota(data.begin(), data.end(), std::uint8_t{1});
  std::vector<std::unique_ptr<Message>> sent;
  for (std::size_t tag = 0; tag < data.size(); ++tag) {
    sent.push_back(send(&data[tag], 1, static_cast<std::uint32_t>(tag)));
    EXPECT_EQ(sent.back()->task.is_done(), tag < kLetterWindows) << "windows for the first";
  }
  for (std::size_t tag = data.size(); tag-- > 0;) {
    std::uint8_t got = 0;
    const auto received = receive(&got, 1, static_cast<std::uint32_t>(tag));
    int steps = 0;
    while (!received->step()) {
      for (const auto& message : sent) message->step();
      ASSERT_LT(++steps, 10) << "tag " << tag;
    }
    EXPECT_EQ(got, data[tag]);
  }
  for (const auto& message : sent) EXPECT_TRUE(message->step());
}

TEST_F(MailboxTest, ASendBeyondTheUnreadLimitWaits) {
  std::vector<std::uint8_t> data(kUnreadMax + 1);
  std::iota(data.begin(), data.end(), std::uint8_t{1});
  std::vector<std::unique_ptr<Message>> sent;
  for (const std::uint8_t& value : data) sent.push_back(send(&value, 1, value));
  std::uint8_t got = 0;
  const auto last = receive(&got, 1, kUnreadMax + 1);
  EXPECT_FALSE(sent.back()->step());
  EXPECT_FALSE(last->step());
  EXPECT_TRUE(receive(&got, 1, 1)->task.is_done());
  sent.back()->step();
  EXPECT_TRUE(last->step());
  EXPECT_EQ(got, kUnreadMax + 1);
}

// The operation that waits first is served first, in whatever order pending operations are polled.
TEST_F(MailboxTest, ReceivesAreServedInTheOrderOfWaiting) {
  std::uint8_t got[2] = {};
  const auto first = receive(&got[0], 1), second = receive(&got[1], 1);
  for (const std::uint8_t data : {1, 2}) send(&data, 1);
  EXPECT_FALSE(second->step());
  EXPECT_TRUE(first->step());
  EXPECT_TRUE(second->step());
  EXPECT_EQ(got[0], 1);
  EXPECT_EQ(got[1], 2);
}

TEST_F(MailboxTest, ASenderThatGaveUpIsNotReadAnyMore) {
  const ArenaPiece piece = arena_->allocate(0, 3 * kWindow);
  std::vector<std::uint8_t> got(3 * kWindow);
  const auto sent = send(piece.data(), got.size());
  first_->lanes.exposure().close();
  const auto received = receive(got.data(), got.size());
  EXPECT_FALSE(received->step()) << "received data that its sender may have changed";
}

TEST_F(MailboxTest, AMessageIsReadWhenItsSenderHasLeft) {
  const std::uint8_t data = 42;
  std::uint8_t got = 0;
  first_.emplace(arena_, 0, 6);
  send(&data, 1);
  first_.reset();
  second_.emplace(arena_, 1, 6);
  EXPECT_TRUE(receive(&got, 1)->task.is_done());
  EXPECT_EQ(got, 42);
}

TEST_F(MailboxTest, BothDirectionsAreIndependent) {
  const std::uint8_t there = 1, back = 2;
  std::uint8_t got = 0;
  const auto sent = send(&there, 1);
  auto answer = message(OpKind::Send, 0, 0, 1);
  answer->op.input = reinterpret_cast<const std::byte*>(&back);
  answer->task = second_->mailbox.send(answer->op);
  EXPECT_TRUE(answer->step());
  auto heard = message(OpKind::Receive, 1, 0, 1);
  heard->op.output = reinterpret_cast<std::byte*>(&got);
  heard->task = first_->mailbox.receive(heard->op);
  EXPECT_TRUE(heard->step());
  EXPECT_EQ(got, 2);
  EXPECT_TRUE(receive(&got, 1)->task.is_done());
  EXPECT_EQ(got, 1);
}

TEST_F(MailboxTest, AnotherLengthOrTypeIsAMismatch) {
  const std::uint8_t data[2] = {1, 2};
  std::uint8_t got[2] = {};
  send(data, 2, 7);
  auto received = message(OpKind::Receive, 0, 7, 1);
  received->op.output = reinterpret_cast<std::byte*>(got);
  received->task = second_->mailbox.receive(received->op);
  try {
    received->step();
    FAIL() << "accepted two elements for one";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Mismatch);
    EXPECT_EQ(error.peer(), 10);
    const std::string text = error.what();
    EXPECT_NE(text.find("rank 10 asked for send of 2 uint8"), std::string::npos) << text;
    EXPECT_NE(text.find("rank 11 for receive of 1 uint8"), std::string::npos) << text;
    EXPECT_NE(text.find("tag 7"), std::string::npos) << text;
  }
  EXPECT_EQ(got[0], 0) << "nothing was written";
}

}  // namespace
}  // namespace trireme::comm::shm
