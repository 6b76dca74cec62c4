// Goal:   untrusted JSON is parsed, and neither malformed text nor deep nesting does harm.
// Method: short texts; one with a million opening brackets, which is copied and printed.

#include "trireme/base/text/json_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace trireme {
namespace {

using Json = nlohmann::json;

TEST(JsonText, ParsesModerateNestingAndRefusesDeepNesting) {
  EXPECT_EQ(parse_json<Json>(R"({"a": [1, "[[[", {"b": "\"]"}]})").at("a").at(0), 1);
  EXPECT_TRUE(parse_json<Json>("{\"a\": ").is_discarded());
  const auto nested = [](int depth) {
    const auto count = static_cast<std::size_t>(depth);
    return std::string(count, '[') + std::string(count, ']');
  };
  EXPECT_EQ(parse_json<Json>(nested(kJsonDepthMax)).dump(), nested(kJsonDepthMax));
  EXPECT_TRUE(parse_json<Json>(nested(kJsonDepthMax + 1)).is_discarded());
  const Json deepest = parse_json<Json>(nested(1'000'000));
  EXPECT_TRUE(Json(deepest).is_discarded());
}

TEST(JsonText, BracketsWithinStringsDoNotCount) {
  EXPECT_FALSE(is_nested_deeper(R"("[[[" [)", 1));
  EXPECT_FALSE(is_nested_deeper(R"("\"[[[" [)", 1));
  EXPECT_TRUE(is_nested_deeper(R"("\\" [[)", 1));
  EXPECT_FALSE(is_nested_deeper("[][][]", 1));
  EXPECT_FALSE(is_nested_deeper("\"\\", 0));
}

TEST(JsonText, InvalidUtf8IsReplaced) {
  EXPECT_EQ(json_text(Json{{"name", "caf\xc3\xa9"}}), "{\"name\":\"caf\xc3\xa9\"}");
  EXPECT_EQ(json_text(Json("a\xff")), "\"a\xef\xbf\xbd\"");
}

}  // namespace
}  // namespace trireme
