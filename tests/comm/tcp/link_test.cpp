// Goal:   a Link delivers messages by id in any order, stays in sync when a transfer is abandoned,
//         and reports every way in which a connection can fail.
// Method: two Links, or a Link and raw bytes, on the ends of one socket pair.

#include "trireme/comm/tcp/link.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>

namespace trireme::comm::tcp {
namespace {

// A Messenger that forwards to one link, so that Transfers can be abandoned.
class OneLink final : public Messenger {
 public:
  OneLink(int descriptor, bool checksums) : link(net::Socket(descriptor), {}, options(checksums)) {}

  int rank() const noexcept override { return 0; }
  void send(int, const MessageId& id, ByteView data, Transfer& transfer) override {
    link.send(id, data, transfer);
  }
  void receive(int, const MessageId& id, std::span<std::byte> into, Transfer& transfer) override {
    link.receive(id, into, transfer);
  }
  void cancel(Transfer& transfer) noexcept override { link.cancel(transfer); }
  void forget(std::uint64_t group) noexcept override { link.forget(group); }
  bool awaits(int, std::uint64_t group, std::uint64_t sequence) const override {
    return link.awaits(group, sequence);
  }
  std::optional<Error> loss(int) const override { return link.loss(); }
  std::optional<Error> announcement(std::uint64_t) const override { return std::nullopt; }
  void announce(std::uint64_t group, std::span<const int>, const Error& error) noexcept override {
    link.send_announcement(group, Announcement::of(error, 0));
  }

  std::uint64_t announced_group = 0;
  std::string announced_text;
  int announced_peer = -1;
  Link link;

 private:
  Link::Options options(bool checksums) {
    Link::Options made;
    made.peer = 7;
    made.checksums = checksums;
    made.on_announcement = [this](std::uint64_t group, const Error& error) {
      announced_group = group;
      announced_text = error.what();
      announced_peer = error.peer().value_or(-1);
    };
    return made;
  }
};

class LinkTest : public ::testing::Test {
 protected:
  void open(bool checksums = false) {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    here = std::make_unique<OneLink>(ends[0], checksums);
    there = std::make_unique<OneLink>(ends[1], checksums);
  }
  // Moves both ends until there is no more progress.
  void settle() {
    for (bool moved = true; moved;) {
      moved = here->link.move();
      if (there && there->link.move()) moved = true;
    }
  }
  // Writes these bytes to the socket and lets the link read them.
  void feed_raw(ByteView bytes) {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    here = std::make_unique<OneLink>(ends[0], true);
    const net::Socket raw(ends[1]);
    ASSERT_EQ(net::send(raw, bytes).size, bytes.size());
    here->link.move();
  }

  std::unique_ptr<OneLink> here, there;
};

// The bytes of a message on the wire.
Bytes as_sent(const MessageId& id, ByteView data) {
  int ends[2];
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
  OneLink sender(ends[0], false);
  const net::Socket raw(ends[1]);
  Transfers sent(sender);
  sent.send(7, id, data);
  Bytes all(4096);
  all.resize(net::receive(raw, all).size);
  return all;
}

TEST_F(LinkTest, AReceiveDuringTheArrivalGetsTheMessage) {
  const Bytes data = to_bytes("slowly");
  const Bytes all = as_sent({1, 1, 1}, data);
  for (std::size_t first = 1; first < all.size(); ++first) {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    OneLink reader(ends[0], false);
    const net::Socket raw(ends[1]);
    ASSERT_EQ(net::send(raw, ByteView(all).first(first)).size, first);
    reader.link.move();
    Bytes into(data.size());
    Transfers got(reader);
    got.receive(7, {1, 1, 1}, into);
    ASSERT_EQ(net::send(raw, ByteView(all).subspan(first)).size, all.size() - first);
    reader.link.move();
    EXPECT_TRUE(got.all_done()) << "received after " << first << " bytes of " << all.size();
    EXPECT_EQ(into, data);
  }
}

TEST_F(LinkTest, DeliversByIdInAnyOrder) {
  open();
  const Bytes first = to_bytes("first"), second = to_bytes("second");
  Bytes a(5), b(6);
  Transfers sent(*here), got(*there);
  sent.send(7, {1, 1, 1}, first);
  sent.send(7, {1, 1, 2}, second);
  settle();
  got.receive(7, {1, 1, 2}, b);
  got.receive(7, {1, 1, 1}, a);
  settle();
  EXPECT_TRUE(sent.all_done());
  EXPECT_TRUE(got.all_done());
  EXPECT_EQ(a, first);
  EXPECT_EQ(b, second);
}

TEST_F(LinkTest, ALargeMessageStaysInTheSocketUntilItIsReceived) {
  open(true);
  const Bytes large(1 << 20, std::byte{5});
  Transfers sent(*here), got(*there);
  sent.send(7, {1, 1, 1}, large);
  settle();
  EXPECT_FALSE(there->link.wants_read());
  EXPECT_FALSE(sent.all_done());
  Bytes into(large.size());
  got.receive(7, {1, 1, 1}, into);
  EXPECT_TRUE(there->link.awaits(1, 1));
  settle();
  EXPECT_TRUE(got.all_done());
  EXPECT_FALSE(there->link.awaits(1, 1));
  EXPECT_EQ(into, large);
}

TEST_F(LinkTest, AnAbandonedTransferKeepsTheStreamInSync) {
  open(true);
  {
    // Both ends cancel in the middle of a message; its memory is released afterwards.
    const Bytes large(4 << 20, std::byte{1});
    Bytes target(large.size());
    Transfers sent(*here), got(*there);
    got.receive(7, {1, 1, 1}, target);
    sent.send(7, {1, 1, 1}, large);
    there->link.move();
    ASSERT_FALSE(sent.all_done());
  }
  const Bytes small = to_bytes("after");
  Bytes into(5);
  Transfers sent(*here), got(*there);
  got.receive(7, {1, 2, 0}, into);
  sent.send(7, {1, 2, 0}, small);
  settle();
  EXPECT_TRUE(got.all_done());
  EXPECT_EQ(into, small);
}

TEST_F(LinkTest, MessagesOfAForgottenGroupAreDropped) {
  open(true);
  const Bytes large(1 << 20, std::byte{5}), small = to_bytes("small");
  Bytes into(5);
  Transfers sent(*here), got(*there);
  sent.send(7, {1, 1, 1}, large);
  sent.send(7, {1, 1, 2}, small);
  sent.send(7, {2, 1, 1}, small);
  settle();
  got.receive(7, {2, 1, 1}, into);
  settle();
  EXPECT_FALSE(got.all_done()) << "the large message is first in the stream";
  there->link.forget(1);
  settle();
  EXPECT_TRUE(got.all_done());
  EXPECT_TRUE(sent.all_done());
  EXPECT_EQ(into, small);
}

TEST_F(LinkTest, MessagesOfOneIdAreReceivedInTheOrderOfSending) {
  open();
  Bytes texts[] = {to_bytes("a"), to_bytes("b"), to_bytes("c"), to_bytes("d")};
  Bytes into[4] = {Bytes(1), Bytes(1), Bytes(1), Bytes(1)};
  Transfers sent(*here), got(*there);
  for (int i = 0; i < 2; ++i) sent.send(7, {1, 1, 1}, texts[i]);
  settle();
  for (int i = 0; i < 4; ++i) got.receive(7, {1, 1, 1}, into[i]);
  for (int i = 2; i < 4; ++i) sent.send(7, {1, 1, 1}, texts[i]);
  settle();
  EXPECT_TRUE(got.all_done());
  for (int i = 0; i < 4; ++i) EXPECT_EQ(into[i], texts[i]);
}

TEST_F(LinkTest, AbandonedMessagesAreNotSent) {
  open();
  const Bytes first = to_bytes("first"), last = to_bytes("last");
  const Bytes large(4 << 20, std::byte{1});
  Bytes in_front(large.size()), into(4);
  Transfers sent(*here), got(*there);
  sent.send(7, {1, 1, 1}, large);
  {
    Transfers abandoned(*here);
    for (std::uint32_t i = 0; i < 1000; ++i) abandoned.send(7, {1, 2, i}, first);
    sent.send(7, {1, 3, 0}, last);
  }
  got.receive(7, {1, 1, 1}, in_front);
  got.receive(7, {1, 3, 0}, into);
  settle();
  EXPECT_TRUE(sent.all_done());
  EXPECT_TRUE(got.all_done());
  EXPECT_EQ(into, last);
  Transfers early(*there);
  early.receive(7, {1, 2, 0}, into);
  settle();
  EXPECT_FALSE(early.all_done()) << "an abandoned message was sent";
}

// 64 MiB of small messages without a receive: the next one stays in the socket until one is
// received.
TEST_F(LinkTest, ReceivingAMessageFreesBufferSpace) {
  open();
  const Bytes small(4096, std::byte{3});
  Transfers sent(*here), got(*there);
  const std::uint32_t many = (64u << 20) / 4096;
  for (std::uint32_t i = 0; i <= many; ++i) sent.send(7, {1, 1, i}, small);
  settle();
  EXPECT_FALSE(there->link.wants_read());
  Bytes into(4096);
  got.receive(7, {1, 1, 5}, into);
  EXPECT_TRUE(got.all_done());
  settle();
  EXPECT_TRUE(there->link.wants_read());
  EXPECT_TRUE(sent.all_done());
}

TEST_F(LinkTest, AClosedConnectionIsALossAndAGoodbyeIsNot) {
  open();
  there->link.leave();
  settle();
  EXPECT_FALSE(here->link.loss());
  Bytes into(1);
  {
    Transfers got(*here);
    got.receive(7, {1, 1, 1}, into);
    ASSERT_TRUE(here->link.loss());
    EXPECT_EQ(here->link.loss()->code(), ErrorCode::PeerLost);
  }
  open();
  there.reset();
  settle();
  ASSERT_TRUE(here->link.loss());
  EXPECT_EQ(here->link.loss()->code(), ErrorCode::PeerLost);
  EXPECT_EQ(here->link.loss()->peer(), 7);
}

TEST_F(LinkTest, DamagedHeadersAndPayloadsAreReported) {
  WireHeader header;
  header.size = 4;
  header.header_check = header_checksum(header) + 1;
  feed_raw(std::as_bytes(std::span(&header, 1)));
  ASSERT_TRUE(here->link.loss());
  EXPECT_EQ(here->link.loss()->code(), ErrorCode::Protocol);

  header.has_checksum = 1;
  header.payload_check = checksum(bytes_of("good"));
  header.header_check = header_checksum(header);
  ByteWriter message;
  message.append(std::as_bytes(std::span(&header, 1))).append(bytes_of("bad!"));
  feed_raw(message.bytes());
  ASSERT_TRUE(here->link.loss());
  EXPECT_EQ(here->link.loss()->code(), ErrorCode::Corrupt);
}

TEST_F(LinkTest, AMessageLargerThanTheReceiveIsRefused) {
  open();
  const Bytes five = to_bytes("12345");
  Bytes four(4);
  Transfers sent(*here), got(*there);
  got.receive(7, {1, 1, 1}, four);
  sent.send(7, {1, 1, 1}, five);
  settle();
  ASSERT_TRUE(there->link.loss());
  EXPECT_EQ(there->link.loss()->code(), ErrorCode::Protocol);
}

TEST_F(LinkTest, AnnouncementsToForgottenGroupsAreDropped) {
  open();
  there->link.forget(42);
  here->link.send_announcement(42, Announcement::of(Error(ErrorCode::Io, "no disk"), 0));
  settle();
  EXPECT_EQ(there->announced_group, 0u);
  EXPECT_FALSE(there->link.loss());
}

TEST_F(LinkTest, ALossIsAnnouncedWithThePeerThatWasLost) {
  open();
  const Error lost = Error(ErrorCode::PeerLost, "rank 5 left").with_peer(5);
  here->link.send_announcement(42, Announcement::of(lost, 0));
  settle();
  EXPECT_EQ(there->announced_peer, 5);
}

TEST_F(LinkTest, AnnouncementsArrive) {
  open();
  here->link.send_announcement(42, Announcement::of(Error(ErrorCode::Io, "no disk"), 0));
  settle();
  EXPECT_EQ(there->announced_group, 42u);
  EXPECT_NE(there->announced_text.find("no disk"), std::string::npos);
}

}  // namespace
}  // namespace trireme::comm::tcp
