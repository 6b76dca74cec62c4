// Goal:   each reader accepts its own type, and reports the actual and the required type otherwise.
// Method: every reader with every type of value.

#include "trireme/base/config/read_value.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "trireme/base/error.h"

namespace trireme::config {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

std::string complaint(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidInput);
    return error.message();
  }
  return "nothing was thrown";
}

TEST(ConfigReadValue, AcceptsItsOwnType) {
  EXPECT_TRUE(read_bool({true}));
  EXPECT_EQ(read_integer({std::int64_t{-3}}), -3);
  EXPECT_EQ(read_number({0.5}), 0.5);
  EXPECT_EQ(read_number({std::int64_t{2}}), 2.0);
  EXPECT_EQ(read_float({0.1}), 0.1f);
  EXPECT_EQ(read_text({std::string("x")}), "x");
  EXPECT_EQ(read_duration({std::string("5 s")}), 5s);
  EXPECT_EQ(read_byte_size({std::string("1 KiB")}), ByteSize{1 << 10});
  EXPECT_EQ(read_byte_size({std::int64_t{7}}), ByteSize{7});
  EXPECT_EQ(read_list({List{{true}}}).size(), 1u);
  EXPECT_EQ(read_text({}), "");
  EXPECT_TRUE(read_list({}).empty());
}

TEST(ConfigReadValue, ReportsTheActualAndTheRequiredType) {
  const Value text{std::string("four")};
  EXPECT_EQ(complaint([&] { read_integer(text); }), "\"four\" is text; it needs an integer");
  EXPECT_EQ(complaint([&] { read_bool(text); }), "\"four\" is text; it needs true or false");
  EXPECT_EQ(complaint([&] { read_number(text); }), "\"four\" is text; it needs a number");
  EXPECT_EQ(complaint([&] { read_list(text); }), "\"four\" is text; it needs a list: [a, b]");
  const Value integer{std::int64_t{5}};
  EXPECT_THAT(complaint([&] { read_text(integer); }), HasSubstr("5 is an integer; it needs text"));
  EXPECT_THAT(complaint([&] { read_duration(integer); }), HasSubstr("a duration with its unit"));
  EXPECT_THAT(complaint([&] { read_byte_size({true}); }), HasSubstr("a size with its unit"));
  EXPECT_THAT(complaint([&] { read_bool({Other{"table"}}); }), HasSubstr("is a table"));
  EXPECT_EQ(complaint([] { read_integer({}); }), "has no value; it needs an integer");
}

TEST(ConfigReadValue, ExplainsHowAnIntegerIsWritten) {
  EXPECT_THAT(complaint([] { read_integer({1e6}); }), HasSubstr("an integer, 1000000"));
  EXPECT_THAT(complaint([] { read_integer({1.5}); }), ::testing::EndsWith("an integer"));
  EXPECT_THAT(complaint([] { read_integer({1e300}); }), ::testing::EndsWith("an integer"));
}

TEST(ConfigReadValue, RefusesNumbersThatNoRangeContains) {
  EXPECT_EQ(complaint([] { read_number({std::nan("")}); }), "nan is not a number");
  EXPECT_THAT(complaint([] { read_float({1e300}); }), HasSubstr("too large for 32 bits"));
  EXPECT_EQ(complaint([] { read_byte_size({std::int64_t{-1}}); }), "-1 is less than 0 B");
  EXPECT_TRUE(std::isinf(read_float({std::numeric_limits<double>::infinity()})));
}

TEST(ConfigReadValue, RefusesInvalidText) {
  EXPECT_THAT(complaint([] { read_text({std::string("\xff")}); }), HasSubstr("not UTF-8"));
}

TEST(ConfigReadValue, TextMayBeANumberWhereThatIsMeant) {
  EXPECT_EQ(read_text_or_number({std::int64_t{0}}), "0");
  EXPECT_EQ(read_text_or_number({1.5}), "1.5");
  EXPECT_EQ(read_text_or_number({std::string("mean")}), "mean");
  EXPECT_THAT(complaint([] { read_text_or_number({true}); }), HasSubstr("needs text"));
}

TEST(ConfigReadValue, NamesAreFoundOrGuessed) {
  const std::vector<std::string> names{"auto", "shm", "tcp"};
  EXPECT_EQ(read_name({std::string("shm")}, names), 1u);
  EXPECT_EQ(complaint([&] { read_name({std::string("smh")}, names); }),
            "\"smh\" is none of \"auto\", \"shm\", \"tcp\"; did you mean \"shm\"?");
  EXPECT_EQ(complaint([&] { read_name({std::string("carrier pigeon")}, names); }),
            "\"carrier pigeon\" is none of \"auto\", \"shm\", \"tcp\"");
  EXPECT_THAT(complaint([&] { read_name({true}, names); }), HasSubstr("needs one of"));
}

TEST(ConfigReadValue, FloatsAreWrittenLikeTheyWereRead) {
  for (float value : {0.1f, 1e-3f, 3.4e38f, 0.0f, -2.5f, 1.0f / 3.0f}) {
    EXPECT_EQ(static_cast<float>(shortest_as_double(value)), value);
  }
  EXPECT_EQ(shortest_as_double(0.1f), 0.1);
  EXPECT_TRUE(std::isinf(shortest_as_double(std::numeric_limits<float>::infinity())));
}

}  // namespace
}  // namespace trireme::config
