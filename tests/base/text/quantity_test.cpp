// Goal:   durations and sizes are parsed exactly or refused, and written text is read back.
// Method: tables of texts; round trips of chosen and random values.

#include "trireme/base/text/quantity.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "trireme/base/error.h"
#include "trireme/base/random.h"

namespace trireme {
namespace {

using namespace std::chrono_literals;

TEST(ParseDuration, ParsesValidTexts) {
  EXPECT_EQ(parse_duration("5 s"), 5s);
  EXPECT_EQ(parse_duration("250ms"), 250ms);
  EXPECT_EQ(parse_duration("  2   min "), 2min);
  EXPECT_EQ(parse_duration("1.5h"), 90min);
  EXPECT_EQ(parse_duration("0.25 us"), 250ns);
  EXPECT_EQ(parse_duration("3 µs"), 3us);
  EXPECT_EQ(parse_duration("7 ns"), 7ns);
  EXPECT_EQ(parse_duration("2 d"), 48h);
  EXPECT_EQ(parse_duration("0 s"), 0s);
  EXPECT_EQ(parse_duration("-5 s"), -5s);
  EXPECT_EQ(parse_duration("0001.500 s"), 1500ms);
}

TEST(ParseDuration, RefusesInvalidTexts) {
  for (const char* text : {"",
                           " ",
                           "s",
                           "5",
                           "5 S",
                           "5 sec",
                           "5 parsecs",
                           "five s",
                           "1e3 s",
                           "1.2.3 s",
                           ".5 s",
                           "5. s",
                           "- 5 s",
                           "--5 s",
                           "+5 s",
                           "5 s 3",
                           "5\ts",
                           "0.5 ns",
                           "1.0000000001 s",
                           "300000 d",
                           "9223372036854775808 ns",
                           "99999999999999999999999999999999999999999 s",
                           "nan s",
                           "0x5 s"}) {
    try {
      parse_duration(text);
      ADD_FAILURE() << "'" << text << "' was read";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::InvalidInput);
      EXPECT_LT(error.message().size(), 200u);
    }
  }
}

TEST(ParseDuration, ReadsBackWhatWasWritten) {
  Random random(1);
  for (int i = 0; i < 2000; ++i) {
    const auto bits = static_cast<std::int64_t>(random.bits64());
    const Duration duration(bits >> random.below(64));
    ASSERT_EQ(parse_duration(to_text(duration)), duration) << to_text(duration);
  }
  for (const Duration duration : {Duration::min(), Duration::max(), Duration(0), Duration(-1)}) {
    EXPECT_EQ(parse_duration(to_text(duration)), duration) << to_text(duration);
  }
}

TEST(DurationText, UsesTheLargestUnitWithoutAFraction) {
  EXPECT_EQ(to_text(Duration(0)), "0 s");
  EXPECT_EQ(to_text(Duration(5s)), "5 s");
  EXPECT_EQ(to_text(Duration(1500ms)), "1500 ms");
  EXPECT_EQ(to_text(Duration(60s)), "1 min");
  EXPECT_EQ(to_text(Duration(90min)), "90 min");
  EXPECT_EQ(to_text(Duration(24h)), "1 d");
  EXPECT_EQ(to_text(Duration(1us)), "1 us");
  EXPECT_EQ(to_text(Duration(-7ns)), "-7 ns");
}

TEST(ParseByteSize, ParsesValidTexts) {
  EXPECT_EQ(parse_byte_size("64 MiB"), ByteSize{64 << 20});
  EXPECT_EQ(parse_byte_size("64M"), ByteSize{64 << 20});
  EXPECT_EQ(parse_byte_size("4K"), ByteSize{4 << 10});
  EXPECT_EQ(parse_byte_size("1.5 GiB"), ByteSize{1536 << 20});
  EXPECT_EQ(parse_byte_size("2 kB"), ByteSize{2000});
  EXPECT_EQ(parse_byte_size("3 MB"), ByteSize{3'000'000});
  EXPECT_EQ(parse_byte_size("1 TB"), ByteSize{1'000'000'000'000});
  EXPECT_EQ(parse_byte_size("512"), ByteSize{512});
  EXPECT_EQ(parse_byte_size("0 B"), ByteSize{0});
  EXPECT_EQ(parse_byte_size("9223372036854775807").count, 9223372036854775807u);
}

TEST(ParseByteSize, RefusesInvalidTexts) {
  for (const char* text : {"", "MiB", "-1 B", "1 b", "1 mib", "1.5 B", "0.3 KiB", "1 PiB",
                           "1 MiB x", "9223372036854775808", "8388608 TiB", "1,5 MiB"}) {
    EXPECT_THROW(parse_byte_size(text), Error) << text;
  }
}

TEST(ParseByteSize, ReadsBackWhatWasWritten) {
  Random random(2);
  for (int i = 0; i < 2000; ++i) {
    const ByteSize size{random.bits64() >> 1 >> random.below(63) << random.below(3) * 10 >> 1};
    if (size.count > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) continue;
    ASSERT_EQ(parse_byte_size(to_text(size)), size) << to_text(size);
  }
  EXPECT_EQ(to_text(ByteSize{64 << 20}), "64 MiB");
  EXPECT_EQ(to_text(ByteSize{1000}), "1000 B");
  EXPECT_EQ(to_text(ByteSize{0}), "0 B");
  EXPECT_EQ(to_text(ByteSize{std::uint64_t{2048} << 40}), "2048 TiB");
}

}  // namespace
}  // namespace trireme
