// Goal:   an Error arrives with all its fields, and malformed bytes cause Protocol errors.
// Method: round trips of all codes and field combinations; every truncation; single invalid fields.

#include "trireme/net/error_codec.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace trireme::net {
namespace {

void expect_equal(const Error& a, const Error& b) {
  EXPECT_EQ(a.code(), b.code());
  EXPECT_EQ(a.rank(), b.rank());
  EXPECT_EQ(a.peer(), b.peer());
  EXPECT_EQ(a.message(), b.message());
  EXPECT_EQ(a.operation(), b.operation());
  EXPECT_EQ(a.cause(), b.cause());
  EXPECT_STREQ(a.what(), b.what());
}

ErrorCode code_of(ByteView bytes) {
  try {
    decode_error(bytes);
  } catch (const Error& error) {
    return error.code();
  }
  ADD_FAILURE() << "decoded";
  return ErrorCode::Misuse;
}

TEST(ErrorCodec, EveryFieldArrives) {
  for (int code = 0; code < kErrorCodeCount; ++code) {
    const Error bare(static_cast<ErrorCode>(code), "what \xff\x00 happened");
    expect_equal(decode_error(encode_error(bare)), bare);
    const Error full = bare.with_rank(3).with_peer(-1).with_operation("get").with_cause("disk");
    expect_equal(decode_error(encode_error(full)), full);
  }
  const Error edge = Error(ErrorCode::Io, "")
                         .with_rank(std::numeric_limits<int>::max())
                         .with_peer(std::numeric_limits<int>::min());
  expect_equal(decode_error(encode_error(edge)), edge);
}

TEST(ErrorCodec, LongTextsAreTruncatedByTheWriter) {
  const Error longest(ErrorCode::Io, std::string(kErrorTextMax, 'x'));
  expect_equal(decode_error(encode_error(longest)), longest);
  const Error longer(ErrorCode::Io, std::string(kErrorTextMax + 1, 'x'));
  EXPECT_EQ(decode_error(encode_error(longer)).message().size(), kErrorTextMax);

  ByteWriter forged;
  forged.put(std::uint8_t{0}).put(std::uint8_t{0}).put(std::int32_t{0});
  forged.put(std::uint8_t{0}).put(std::int32_t{0});
  forged.put_text(std::string(kErrorTextMax + 1, 'x')).put_text("").put_text("");
  EXPECT_EQ(code_of(forged.bytes()), ErrorCode::Protocol);
}

TEST(ErrorCodec, NoTruncationOrExtensionIsAccepted) {
  const Bytes whole =
      encode_error(Error(ErrorCode::PeerLost, "gone").with_rank(1).with_operation("wait"));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_EQ(code_of(ByteView(whole).first(size)), ErrorCode::Protocol) << size;
  }
  Bytes longer = whole;
  longer.push_back(std::byte{0});
  EXPECT_EQ(code_of(longer), ErrorCode::Protocol);
}

TEST(ErrorCodec, UnknownValuesAreRefused) {
  Bytes bytes = encode_error(Error(ErrorCode::Io, "x"));
  for (int code : {kErrorCodeCount, 128, 255}) {
    bytes[0] = static_cast<std::byte>(code);
    EXPECT_EQ(code_of(bytes), ErrorCode::Protocol) << code;
  }
  bytes[0] = std::byte{0};
  bytes[1] = std::byte{2};  // neither present (1) nor absent (0)
  EXPECT_EQ(code_of(bytes), ErrorCode::Protocol);
}

}  // namespace
}  // namespace trireme::net
