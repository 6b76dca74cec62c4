// Goal:   every record is one line that any JSON reader accepts, and one line that people can read.
// Method: compare complete texts; hostile text (control characters, invalid UTF-8) is read back by
//         an independent JSON reader.

#include "trireme/base/record.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace trireme {
namespace {

TEST(Record, WritesJsonInOrder) {
  const Record record{{"ranks", 8}, {"ok", true}, {"ratio", 0.25}, {"name", "a b"}, {"none", ""}};
  EXPECT_EQ(record.to_json(), R"({"ranks":8,"ok":true,"ratio":0.25,"name":"a b","none":""})");
  EXPECT_EQ(Record().to_json(), "{}");
}

TEST(Record, WritesTextInOrder) {
  const Record record{{"ranks", 8}, {"ok", false}, {"ratio", 0.25}, {"name", "a b"}, {"none", ""}};
  EXPECT_EQ(record.to_text(), R"(ranks=8 ok=false ratio=0.25 name="a b" none="")");
  EXPECT_EQ(Record().to_text(), "");
}

TEST(Record, AcceptsTheCommonTypes) {
  const std::string text = "text";
  const std::string_view view = "view";
  const Record record{
      {"a", std::uint8_t{255}}, {"b", std::int64_t{-5}}, {"c", 1.5f}, {"d", text}, {"e", view},
      {"f", std::size_t{7}}};
  EXPECT_EQ(record.to_json(), R"({"a":255,"b":-5,"c":1.5,"d":"text","e":"view","f":7})");
}

TEST(Record, FindsTheFirstFieldOfAName) {
  Record record{{"a", 1}};
  record.add({"b", 2}).add({"a", 3});
  ASSERT_NE(record.find("a"), nullptr);
  EXPECT_EQ(std::get<std::int64_t>(*record.find("a")), 1);
  EXPECT_EQ(record.find("c"), nullptr);
  EXPECT_EQ(record.fields().size(), 3u);
  EXPECT_EQ(record.to_json(), R"({"a":1,"b":2})");
  EXPECT_EQ(record.to_text(), "a=1 b=2 a=3");
}

TEST(Record, NumbersAreReadBackUnchanged) {
  const double values[] = {0.1, -0.0, 1.0, 1e300, 5e-324, 123456789.125, 1.0 / 3.0};
  for (double value : values) {
    const auto json = nlohmann::json::parse(Record{{"x", value}}.to_json());
    EXPECT_TRUE(json["x"].is_number_float()) << value;
    EXPECT_EQ(json["x"].get<double>(), value);
  }
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(nlohmann::json::parse(Record{{"x", least}}.to_json())["x"].get<std::int64_t>(), least);
}

TEST(Record, NumbersThatJsonCannotRepresentAreStrings) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Record record{{"a", infinity}, {"b", -infinity}, {"c", std::nan("")}};
  EXPECT_EQ(record.to_json(), R"({"a":"inf","b":"-inf","c":"nan"})");
}

TEST(Record, EveryByteIsKeptOrReplaced) {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string text = std::string("<") + static_cast<char>(byte) + ">";
    const Record record{{text, text}};
    const auto json = nlohmann::json::parse(record.to_json());
    const std::string expected = byte < 0x80 ? text : "<\xEF\xBF\xBD>";
    EXPECT_EQ(json[expected].get<std::string>(), expected) << byte;
    EXPECT_EQ(record.to_text().find_first_of("\n\r\x1b\x7f"), std::string::npos) << byte;
  }
}

TEST(Record, WellFormedTextIsKeptAndTheRestReplaced) {
  const auto written = [](std::string_view text) {
    return nlohmann::json::parse(Record{{"x", text}}.to_json())["x"].get<std::string>();
  };
  const std::string bad = "\xEF\xBF\xBD";
  EXPECT_EQ(written("grüße 漢字 🚣"), "grüße 漢字 🚣");
  EXPECT_EQ(written("\xC0\x80"), bad + bad) << "overlong";
  EXPECT_EQ(written("\xED\xA0\x80"), bad + bad + bad) << "a surrogate";
  EXPECT_EQ(written("\xF4\x90\x80\x80"), bad + bad + bad + bad) << "past the last character";
  EXPECT_EQ(written("\xE6\xBC"), bad + bad) << "cut short";
  EXPECT_EQ(written("\xF0\x9F\x9A"), bad + bad + bad) << "cut short";
  EXPECT_EQ(written("\xF0\x9F\x9A\xA3"), "🚣");
}

TEST(Record, TextCannotForgeFieldsOrLines) {
  const Record record{{"a", "1 b=2"}, {"c", "x\ny"}, {"d", "say \"hi\""}, {"e", "k=v"}};
  EXPECT_EQ(record.to_text(), R"(a="1 b=2" c="x\ny" d="say \"hi\"" e="k=v")");
}

}  // namespace
}  // namespace trireme
