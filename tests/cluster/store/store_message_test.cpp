// Goal:   store messages are decoded as they were encoded, and no input does harm.
// Method: a round trip of every verb; every truncation and every flipped byte of real messages.

#include "trireme/cluster/store/store_message.h"

#include <gtest/gtest.h>

namespace trireme::cluster {
namespace {

StoreRequest full_request(StoreVerb verb) {
  StoreRequest request;
  request.verb = verb;
  request.slot = 513;
  request.key = std::string("key\0with zero", 13);
  request.value = share(bytes_of("value"));
  request.expected = share({});
  request.lifetime = Lifetime::Session;
  request.delta = -7;
  request.watch = 11;
  request.taken = 13;
  return request;
}

StoreReply full_reply() {
  StoreReply reply;
  reply.value = share(bytes_of("v"));
  reply.flag = true;
  reply.number = -1;
  reply.items = {{"a", share(bytes_of("1")), 4}, {"b", nullptr, 5}, {"", share({}), 6}};
  return reply;
}

TEST(StoreMessage, EveryVerbIsDecodedAsItWasEncoded) {
  for (int verb = 0; verb < kStoreVerbCount; ++verb) {
    const StoreRequest sent = full_request(static_cast<StoreVerb>(verb));
    const StoreRequest got = decode_store_request(encode(sent));
    EXPECT_EQ(got.verb, sent.verb);
    EXPECT_EQ(got.slot, sent.slot);
    EXPECT_EQ(got.key, sent.key);
    EXPECT_EQ(*got.value, *sent.value);
    ASSERT_NE(got.expected, nullptr) << "an empty value is not an absent one";
    EXPECT_TRUE(got.expected->empty());
    EXPECT_EQ(got.lifetime, Lifetime::Session);
    EXPECT_EQ(got.delta, -7);
    EXPECT_EQ(got.watch, 11u);
    EXPECT_EQ(got.taken, 13u);
    EXPECT_FALSE(name_of(got.verb).empty());
  }
}

TEST(StoreMessage, RepliesAreDecodedAsTheyWereEncoded) {
  const StoreReply got = decode_store_reply(encode(full_reply()));
  EXPECT_EQ(text_of(*got.value), "v");
  EXPECT_TRUE(got.flag);
  EXPECT_EQ(got.number, -1);
  ASSERT_EQ(got.items.size(), 3u);
  EXPECT_EQ(got.items[1].value, nullptr);
  EXPECT_EQ(got.items[2].revision, 6u);

  StoreReply refusal;
  refusal.error = ErrorCode::Exhausted;
  refusal.error_text = "full";
  const StoreReply refused = decode_store_reply(encode(refusal));
  EXPECT_EQ(refused.error, ErrorCode::Exhausted);
  EXPECT_EQ(refused.error_text, "full");
}

template <class Decode>
void expect_protocol_error_at_every_truncation(const Bytes& whole, Decode decode) {
  for (std::size_t size = 0; size < whole.size(); ++size) {
    try {
      decode(ByteView(whole).first(size));
      ADD_FAILURE() << size << " of " << whole.size() << " bytes were accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Protocol) << error.what();
    }
  }
  Bytes longer = whole;
  longer.push_back(std::byte{0});
  EXPECT_THROW(decode(longer), Error);
}

TEST(StoreMessage, TruncatedOrPaddedBytesAreAProtocolError) {
  expect_protocol_error_at_every_truncation(encode(full_request(StoreVerb::Swap)),
                                            [](ByteView in) { decode_store_request(in); });
  expect_protocol_error_at_every_truncation(encode(full_reply()),
                                            [](ByteView in) { decode_store_reply(in); });
}

TEST(StoreMessage, FlippedBytesThrowAtMost) {
  for (const Bytes& whole : {encode(full_request(StoreVerb::Set)), encode(full_reply())}) {
    for (std::size_t at = 0; at < whole.size(); ++at) {
      for (int bit = 0; bit < 8; ++bit) {
        Bytes flipped = whole;
        flipped[at] ^= static_cast<std::byte>(1 << bit);
        for (auto decode : {+[](ByteView in) { decode_store_request(in); },
                            +[](ByteView in) { decode_store_reply(in); }}) {
          try {
            decode(flipped);
          } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::Protocol) << error.what();
          }
        }
      }
    }
  }
}

TEST(StoreMessage, AHugeCountDoesNotAllocateMemory) {
  StoreReply empty;
  Bytes bytes = encode(empty);
  for (std::size_t i = bytes.size() - 4; i < bytes.size(); ++i) bytes[i] = std::byte{0xff};
  EXPECT_THROW(decode_store_reply(bytes), Error);
}

}  // namespace
}  // namespace trireme::cluster
