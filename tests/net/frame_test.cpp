// Goal:   frames are decoded as they were encoded, however the bytes are split, and invalid headers
//         are refused before any allocation.
// Method: round trips at boundary sizes, every split of a small stream, each header field invalid.

#include "trireme/net/frame.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "trireme/base/error.h"

namespace trireme::net {
namespace {

Frame make_frame(FrameKind kind, std::uint64_t id, std::size_t size) {
  Frame out{.kind = kind, .method = static_cast<std::uint16_t>(id * 257), .id = id, .payload = {}};
  for (std::size_t i = 0; i < size; ++i) {
    out.payload.push_back(static_cast<std::byte>(i * 131 + id));
  }
  return out;
}

void expect_equal(const Frame& a, const Frame& b) {
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.method, b.method);
  EXPECT_EQ(a.id, b.id);
  EXPECT_EQ(a.payload, b.payload);
}

void append(Bytes& to, const Bytes& more) {
  to.insert(to.end(), more.begin(), more.end());
}

TEST(Frame, IsDecodedAtEverySize) {
  for (std::size_t size : {0, 1, 3, 19, 20, 21, 4096, 4097, 65535, 65536, 3'000'017}) {
    const Frame frame = make_frame(FrameKind::Reply, size + 1, size);
    const Bytes wire = encode(frame);
    ASSERT_EQ(wire.size(), kFrameHeaderSize + size);
    FrameReader reader;
    reader.feed(wire);
    const auto back = reader.next();
    ASSERT_TRUE(back.has_value());
    expect_equal(*back, frame);
    EXPECT_FALSE(reader.next().has_value());
    EXPECT_EQ(reader.pending(), 0u);
  }
}

TEST(Frame, IsDecodedHoweverTheStreamIsSplit) {
  std::vector<Frame> frames;
  Bytes wire;
  for (int kind = 1; kind <= 7; ++kind) {
    frames.push_back(make_frame(static_cast<FrameKind>(kind), kind, kind % 3 == 0 ? 0 : kind));
    append(wire, encode(frames.back()));
  }
  for (std::size_t step = 1; step <= wire.size(); ++step) {
    FrameReader reader;
    std::size_t seen = 0;
    for (std::size_t at = 0; at < wire.size(); at += step) {
      reader.feed(ByteView(wire).subspan(at, std::min(step, wire.size() - at)));
      while (auto frame = reader.next()) {
        ASSERT_LT(seen, frames.size());
        expect_equal(*frame, frames[seen++]);
      }
    }
    EXPECT_EQ(seen, frames.size()) << "in pieces of " << step;
  }
}

TEST(Frame, UnreadFramesStayInOrder) {
  FrameReader reader;
  std::uint64_t fed = 0;
  std::uint64_t taken = 0;
  for (int round = 0; round < 200; ++round) {
    for (int i = 0; i < round % 7; ++i) reader.feed(encode(make_frame(FrameKind::Item, fed++, 33)));
    for (int i = 0; i < round % 5; ++i) {
      if (auto frame = reader.next())
        expect_equal(*frame, make_frame(FrameKind::Item, taken++, 33));
    }
  }
  while (auto frame = reader.next()) expect_equal(*frame, make_frame(FrameKind::Item, taken++, 33));
  EXPECT_EQ(taken, fed);
}

TEST(Frame, EachInvalidFieldIsRefused) {
  struct Case {
    std::size_t at;
    std::uint8_t value;
    const char* says;
  };
  for (const Case& each :
       {Case{0, 'X', "TRM1"}, Case{3, '2', "TRM1"}, Case{4, 0, "kind 0"}, Case{4, 8, "kind 8"},
        Case{5, 1, "flags 1"}, Case{19, 0xff, "allowed"}}) {
    Bytes wire = encode(make_frame(FrameKind::Request, 7, 5));
    wire[each.at] = static_cast<std::byte>(each.value);
    FrameReader reader;
    for (int again = 0; again < 2; ++again) {
      try {
        reader.feed(wire);
        ADD_FAILURE() << "accepted " << each.says;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::Protocol);
        EXPECT_NE(error.message().find(each.says), std::string::npos) << error.what();
      }
    }
    EXPECT_FALSE(reader.next().has_value());
  }
}

TEST(Frame, TheSizeLimitIsInclusiveAndAllocatesNothingInAdvance) {
  FrameReader reader(4096);
  reader.feed(encode(make_frame(FrameKind::Post, 1, 4096)));
  EXPECT_TRUE(reader.next().has_value());
  EXPECT_THROW(reader.feed(encode(make_frame(FrameKind::Post, 1, 4097))), Error);

  // After a header that announces 64 MiB, only 20 bytes are held until the payload arrives.
  FrameReader wide;
  const FrameHeader header = encode_header(FrameKind::Request, 1, 1, kPayloadMax);
  wide.feed(header);
  EXPECT_FALSE(wide.next().has_value());
  EXPECT_EQ(wide.pending(), kFrameHeaderSize);
}

TEST(Frame, ValidFramesBeforeAnInvalidOneAreDelivered) {
  Bytes wire = encode(make_frame(FrameKind::Request, 1, 3));
  append(wire, to_bytes("GET / HTTP/1.1\r\nHost: example\r\n\r\n"));
  FrameReader reader;
  EXPECT_THROW(reader.feed(wire), Error);
  const auto frame = reader.next();
  ASSERT_TRUE(frame.has_value());
  EXPECT_EQ(frame->id, 1u);
  EXPECT_FALSE(reader.next().has_value());
}

TEST(Frame, APayloadBeyondTheFormatIsMisuse) {
  EXPECT_THROW(encode_header(FrameKind::Request, 1, 1, kPayloadMax + 1), Error);
}

}  // namespace
}  // namespace trireme::net
