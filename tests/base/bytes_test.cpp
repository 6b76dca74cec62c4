// Goal:   written values are read back, and malformed input is an Error, never an out-of-bounds
//         read.
// Method: round trips of every width, every truncation of a message, wrong hexadecimal text.

#include "trireme/base/bytes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "trireme/base/error.h"

namespace trireme {
namespace {

ErrorCode code_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.code();
  }
  ADD_FAILURE() << "nothing was thrown";
  return ErrorCode::Misuse;
}

TEST(Hex, ReadsWhatItWrote) {
  EXPECT_EQ(to_hex({}), "");
  EXPECT_EQ(to_hex(to_bytes(std::string_view("\x00\x01\x7f\x80\xff", 5))), "00017f80ff");
  Bytes all(256);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::byte>(i);
  EXPECT_EQ(from_hex(to_hex(all)), all);
  EXPECT_EQ(from_hex("DeadBeef"), from_hex("deadbeef"));
}

TEST(Hex, RefusesTextThatIsNotHexadecimal) {
  for (const char* text : {"0", "abc", "0g", "g0", "0 ", "-1", "0x"}) {
    EXPECT_EQ(code_of([&] { from_hex(text); }), ErrorCode::InvalidInput) << text;
  }
}

TEST(Text, IsViewedWithoutACopy) {
  const std::string text = "abc";
  EXPECT_EQ(static_cast<const void*>(bytes_of(text).data()), text.data());
  EXPECT_EQ(text_of(bytes_of(text)), text);
  EXPECT_EQ(text_of(ByteView{}), "");
}

Bytes example_message() {
  ByteWriter writer;
  writer.put(std::uint8_t{1}).put(std::int16_t{-2}).put(std::uint32_t{3}).put(std::int64_t{-4});
  writer.put(0.5f).put(-0.0).put(true);
  writer.put_text("").put_text("seven").put_bytes(to_bytes(std::string(300, 'x')));
  return std::move(writer).take();
}

void read_example(ByteReader& reader) {
  EXPECT_EQ(reader.get<std::uint8_t>(), 1);
  EXPECT_EQ(reader.get<std::int16_t>(), -2);
  EXPECT_EQ(reader.get<std::uint32_t>(), 3u);
  EXPECT_EQ(reader.get<std::int64_t>(), -4);
  EXPECT_EQ(reader.get<float>(), 0.5f);
  EXPECT_TRUE(std::signbit(reader.get<double>()));
  EXPECT_TRUE(reader.get<bool>());
  EXPECT_EQ(reader.get_text(), "");
  EXPECT_EQ(reader.get_text(), "seven");
  EXPECT_EQ(reader.get_bytes().size(), 300u);
  reader.expect_end();
}

TEST(ByteReader, ReadsWhatWasWritten) {
  const Bytes message = example_message();
  ByteReader reader(message);
  EXPECT_EQ(reader.remaining(), message.size());
  read_example(reader);
  EXPECT_EQ(reader.remaining(), 0u);
}

TEST(ByteReader, EveryTruncationIsAProtocolError) {
  const Bytes message = example_message();
  for (std::size_t size = 0; size < message.size(); ++size) {
    // A vector of the exact size, so that a sanitizer detects a read past its end.
    const Bytes cut(message.begin(), message.begin() + static_cast<std::ptrdiff_t>(size));
    ByteReader reader(cut);
    ASSERT_EQ(code_of([&] { read_example(reader); }), ErrorCode::Protocol) << size;
  }
}

TEST(ByteReader, ExcessBytesAreAProtocolError) {
  Bytes message = example_message();
  message.push_back(std::byte{0});
  ByteReader reader(message);
  EXPECT_EQ(code_of([&] { read_example(reader); }), ErrorCode::Protocol);
}

TEST(ByteReader, AWrongLengthIsAProtocolError) {
  ByteWriter writer;
  writer.put(std::numeric_limits<std::uint32_t>::max());
  ByteReader reader(writer.bytes());
  EXPECT_EQ(code_of([&] { reader.get_bytes(); }), ErrorCode::Protocol);
}

TEST(ByteWriter, IsLittleEndian) {
  ByteWriter writer;
  writer.put(std::uint32_t{0x01020304}).put_text("a");
  EXPECT_EQ(to_hex(writer.bytes()),
            "04030201"
            "01000000"
            "61");
}

}  // namespace
}  // namespace trireme
