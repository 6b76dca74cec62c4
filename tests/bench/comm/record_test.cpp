// Goal:   a record is unchanged after a round trip through JSON, the public line contains exactly
//         the documented fields, and an incorrect result is clearly visible.
// Method: records written and read back; lines that are not records; the texts for people.

#include "bench/comm/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace trireme::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

CommRecord sample() {
  CommRecord record;
  record.backend = "shm";
  record.type = "bfloat16";
  record.ranks = 3;
  record.bytes = 1 << 20;
  record.is_symmetric = true;
  record.seconds = 0.5e-3;
  record.p99 = 0.75e-3;
  record.is_verified = true;
  record.bounds = {{"memcpy", 0.25e-3}, {"another", 1}};
  return record;
}

TEST(Record, IsReadBackFromJsonUnchanged) {
  const auto read = read_record(to_json(sample()));
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->is_same_case(sample()));
  EXPECT_EQ(read->seconds, sample().seconds);
  EXPECT_EQ(read->p99, sample().p99);
  EXPECT_TRUE(read->is_verified);
  ASSERT_EQ(read->bounds.size(), 2u);
  EXPECT_EQ(read->bounds[0].name, "memcpy");
  EXPECT_EQ(read->bounds[0].seconds, 0.25e-3);
}

TEST(Record, ThePublicLineHasExactlyTheDocumentedFields) {
  const auto json = nlohmann::ordered_json::parse(to_public_json(sample()));
  std::vector<std::string> names;
  for (const auto& [name, value] : json.items()) names.push_back(name);
  EXPECT_THAT(names,
              ElementsAre("op", "backend", "ranks", "bytes", "symmetric", "seconds",
                          "bytes_per_second", "verified", "type", "p50", "p99", "bound", "wire"));
  EXPECT_EQ(json["bytes"], 1 << 20);
  EXPECT_EQ(json["symmetric"], true);
  EXPECT_DOUBLE_EQ(json["bytes_per_second"], (1 << 20) / 0.5e-3);
  EXPECT_EQ(json["type"], "bfloat16");
  EXPECT_EQ(json["p50"], json["seconds"]);
  EXPECT_EQ(json["p99"], 0.75e-3);
  EXPECT_EQ(json["bound"]["name"], "memcpy");
  EXPECT_DOUBLE_EQ(json["bound"]["bytes_per_second"], (1 << 20) / 0.25e-3);
  EXPECT_DOUBLE_EQ(json["bound"]["share"], 0.5);
  EXPECT_TRUE(json["wire"].is_null());
}

TEST(Record, ARunOverAWireDiffersFromOneWithout) {
  CommRecord wired = sample();
  wired.wire = 1e9;
  EXPECT_EQ(nlohmann::json::parse(to_public_json(wired))["wire"], 1e9);
  EXPECT_EQ(read_record(to_json(wired))->wire, 1e9);
  EXPECT_EQ(read_record(to_json(sample()))->wire, 0);
  wired.bounds.clear();
  EXPECT_TRUE(nlohmann::json::parse(to_public_json(wired))["bound"].is_null());
}

TEST(Record, OtherLinesAreNotRecords) {
  for (const char* line :
       {"", "{", "{}", "[0] {\"op\":1}", "{\"op\":", "{\"op\":1}", "{\"op\":\"all_reduce\"}",
        "rank 0 of 2", "{\"op\":\"x\",\"ranks\":\"y\"}"}) {
    EXPECT_FALSE(read_record(line)) << line;
  }
}

TEST(Record, PeersMayOmitFields) {
  const auto read =
      read_record(R"({"op":"all_reduce","backend":"gloo","ranks":2,"bytes":64,"symmetric":false,)"
                  R"("seconds":0.5,"bytes_per_second":128,"verified":true})");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->type, "float32");
  EXPECT_EQ(read->wire, 0);
  EXPECT_EQ(read->p99, read->seconds);
  EXPECT_FALSE(read->share_of_bound());
}

TEST(Record, TheShareRefersToTheFirstBound) {
  EXPECT_DOUBLE_EQ(*sample().share_of_bound(), 0.5);
  CommRecord none = sample();
  none.seconds = 0;
  EXPECT_FALSE(none.share_of_bound());
  EXPECT_EQ(none.bytes_per_second(), 0);
}

TEST(Record, ALineShowsTheCaseTheRateAndTheBound) {
  const std::string line = table_line(sample());
  for (const char* text : {"all_reduce", "shm", " 3 ", "1 MiB", "bfloat16", "yes", "500.00 us",
                           "750.00 us", "2.097", "0.50 of memcpy 4.19 GB/s"}) {
    EXPECT_THAT(line, HasSubstr(text));
  }
  EXPECT_THAT(line, Not(HasSubstr("WRONG")));
}

TEST(Record, AnIncorrectResultIsMarked) {
  CommRecord wrong = sample();
  wrong.is_verified = false;
  EXPECT_THAT(table_line(wrong), HasSubstr("WRONG"));
  wrong.bounds.clear();
  EXPECT_THAT(table_line(wrong), HasSubstr("WRONG"));
  EXPECT_THAT(to_public_json(wrong), HasSubstr("\"verified\":false"));
}

TEST(Record, EveryFieldOfACaseDistinguishesIt) {
  const auto differs = [](auto change) {
    CommRecord other = sample();
    change(other);
    return !other.is_same_case(sample());
  };
  EXPECT_TRUE(differs([](CommRecord& r) { r.op = "reduce"; }));
  EXPECT_TRUE(differs([](CommRecord& r) { r.backend = "tcp"; }));
  EXPECT_TRUE(differs([](CommRecord& r) { r.type = "int8"; }));
  EXPECT_TRUE(differs([](CommRecord& r) { r.ranks = 2; }));
  EXPECT_TRUE(differs([](CommRecord& r) { r.bytes = 2; }));
  EXPECT_TRUE(differs([](CommRecord& r) { r.is_symmetric = false; }));
  EXPECT_TRUE(differs([](CommRecord& r) { r.wire = 1e9; }));
  EXPECT_FALSE(differs([](CommRecord& r) { r.seconds = 9; }));
}

TEST(Record, TimesHaveAReadableUnit) {
  EXPECT_EQ(time_text(0), "0.00 us");
  EXPECT_EQ(time_text(1.234e-6), "1.23 us");
  EXPECT_EQ(time_text(0.0015), "1.50 ms");
  EXPECT_EQ(time_text(2.5), "2.50 s");
}

}  // namespace
}  // namespace trireme::bench
