// Goal:   a manifest says the same after a round trip, and no damage to it goes unnoticed.
// Method: text and back; then every single bit of it flipped.

#include "trireme/checkpoint/format/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <utility>

#include "trireme/base/bytes.h"
#include "trireme/base/error.h"
#include "trireme/base/xxh64.h"

namespace trireme::checkpoint::format {
namespace {

using ::testing::HasSubstr;

Manifest sample() {
  Manifest manifest{.step = 1234, .score = 0.1, .meta = R"({"position":{"epoch":2},"x":0.1})"};
  manifest.files = {{.name = "part-00000.safetensors", .size = 1 << 20}};
  manifest.tensors = {
      {.name = "weight",
       .dtype = DType::BF16,
       .sizes = {2, 5},
       .pieces = {{.file = "part-00000.safetensors",
                   .begin = 3,
                   .count = 7,
                   .offset = 70,
                   .checksums = {2}},
                  {.file = "part-00000.safetensors",
                   .begin = 0,
                   .count = 3,
                   .offset = 64,
                   .checksums = {1}}}},
      {.name = "empty", .sizes = {0}, .pieces = {{.file = "part-00000.safetensors"}}}};
  settle(manifest);
  return manifest;
}

TEST(Manifest, RoundTrip) {
  const std::string text = manifest_text(sample());
  const Manifest read = parse_manifest(text, "manifest.json");
  EXPECT_EQ(manifest_text(read), text);
  EXPECT_EQ(read.step, 1234);
  EXPECT_EQ(read.score, 0.1);
  EXPECT_EQ(read.meta, sample().meta);
  EXPECT_EQ(read.data_size(), 20u);
  ASSERT_NE(read.find("weight"), nullptr);
  EXPECT_EQ(read.find("weight")->pieces[1].checksums, std::vector<std::uint64_t>{2});
  EXPECT_EQ(read.find("bias"), nullptr);
}

TEST(Manifest, EveryFlippedBitIsNoticed) {
  const std::string text = manifest_text(sample());
  for (std::size_t bit = 0; bit < text.size() * 8; ++bit) {
    std::string damaged = text;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_THROW(parse_manifest(damaged, "m"), Error) << bit;
  }
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_THROW(parse_manifest(text.substr(0, size), "m"), Error) << size;
  }
}

TEST(Manifest, GapsAndOverlapsAreRefused) {
  Manifest gap = sample();
  gap.tensors[1].pieces.pop_back();
  EXPECT_THROW(settle(gap), Error);
  try {
    parse_manifest(manifest_text(gap), "m");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::Corrupt);
    EXPECT_THAT(error.message(), HasSubstr("weight has 10 elements, its pieces 3"));
  }
  Manifest twice = sample();
  twice.tensors.push_back(twice.tensors[0]);
  EXPECT_THROW(settle(twice), Error);
}

// Its text without the last line, changed, and with the checksum that fits: somebody meant it so.
std::string forged(const std::string& from, const std::string& to) {
  std::string text = manifest_text(sample());
  text.resize(text.rfind(",\n\"checksum\""));
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  char checksum[17];
  std::snprintf(checksum, sizeof(checksum), "%016llx",
                static_cast<unsigned long long>(xxh64(bytes_of(text))));
  return text + ",\n\"checksum\":\"" + checksum + "\"}\n";
}

TEST(Manifest, LiesAreCorruptWhateverTheyAre) {
  const std::string huge = "9223372036854775807";
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"\"trireme-checkpoint\"", "7"},
           {"\"trireme-checkpoint\"", "\"another\""},
           {"\"0000000000000001\"", "\"000000000000000g\""},
           {"\"0000000000000001\"", "\"zzzzzzzzzzzzzzzz\""},
           {"\"0000000000000001\"", "\"-000000000000001\""},
           {"[2,5]", "[2,-5]"},
           {"[2,5]", "[" + huge + "," + huge + "]"},
           {"\"count\":3", "\"count\":" + huge},
           {"\"step\":1234", "\"step\":[]"}}) {
    try {
      parse_manifest(forged(from, to), "m");
      ADD_FAILURE() << "accepted " << to;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Corrupt) << to << ": " << error.what();
    }
  }
}

TEST(Manifest, MetaIsJson) {
  Manifest manifest = sample();
  manifest.meta = "step = 3";
  EXPECT_THROW(manifest_text(manifest), Error);
}

}  // namespace
}  // namespace trireme::checkpoint::format
