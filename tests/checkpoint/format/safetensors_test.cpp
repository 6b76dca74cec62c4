// Goal:   safetensors headers are written as other readers expect them, and errors in them are
//         reported.
// Method: writes headers and parses them in memory; then introduces one error at a time.

#include "trireme/checkpoint/format/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/error.h"
#include "trireme/checkpoint/format/dtype.h"

namespace trireme::checkpoint::format {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

std::string error_of(const std::string& text, std::uint64_t file_size) {
  try {
    parse_header(text, file_size, "x.safetensors");
  } catch (const Error& error) {
    return std::string(name_of(error.code())) + ": " + error.message();
  }
  return "none";
}

std::string with_length(const std::string& json) {
  std::string text(8, '\0');
  text[0] = static_cast<char>(json.size());
  return text + json;
}

TEST(SafetensorsHeader, EveryTypeHasANameAndIsFoundByIt) {
  for (int i = 0; i < 15; ++i) {
    const auto dtype = static_cast<StoredDType>(i);
    EXPECT_EQ(dtype_named(name_of(dtype)), dtype);
  }
  EXPECT_EQ(size_of(StoredDType::BF16), 2u);
  EXPECT_EQ(dtype_named("C64"), std::nullopt);
}

TEST(SafetensorsHeader, WideTypesComeFirstAndEverythingIsAligned) {
  std::vector<Entry> entries{{.name = "flag", .dtype = StoredDType::Bool, .sizes = {3}},
                             {.name = "count", .dtype = StoredDType::I64, .sizes = {}},
                             {.name = "empty", .dtype = StoredDType::F32, .sizes = {0, 5}},
                             {.name = "half", .dtype = StoredDType::F16, .sizes = {7}}};
  EXPECT_THAT(lay_out(entries), ElementsAre(1, 2, 3, 0));
  const std::string text = header_text(entries, {{"format", "pt"}});
  EXPECT_EQ(text.size() % 64, 0u);
  const Header header = parse_header(text, text.size() + 8 + 14 + 3, "x");
  EXPECT_EQ(header.metadata.at("format"), "pt");
  EXPECT_EQ(header.data_begin, text.size());
  ASSERT_EQ(header.entries.size(), 4u);
  for (const Entry& entry : header.entries) EXPECT_EQ(entry.begin % size_of(entry.dtype), 0u);
  EXPECT_EQ(header.entries[3].name, "flag");
  EXPECT_EQ(header.entries[3].begin, 22u);
}

TEST(SafetensorsHeader, MistakesAreReported) {
  EXPECT_THAT(error_of("abc", 3), HasSubstr("Corrupt: x.safetensors is no whole safetensors"));
  EXPECT_THAT(error_of(with_length("{}"), 9), HasSubstr("a header of 2 bytes in a file of 9"));
  EXPECT_THAT(error_of(with_length("[]"), 10), HasSubstr("not a JSON object"));
  const std::string one = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  EXPECT_EQ(error_of(with_length(one), 8 + one.size() + 8), "none");
  EXPECT_THAT(error_of(with_length(one), 8 + one.size() + 7), HasSubstr("there are 7"));
  const std::string size = R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})";
  EXPECT_THAT(error_of(with_length(size), 8 + size.size() + 8), HasSubstr("tensor a: its sizes"));
  const std::string gap = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})";
  EXPECT_THAT(error_of(with_length(gap), 8 + gap.size() + 12), HasSubstr("begins at byte 4"));
  const std::string huge =
      R"({"a":{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0]}})";
  EXPECT_THAT(error_of(with_length(huge), 8 + huge.size()), HasSubstr("more elements"));
  const std::string type = R"({"a":{"dtype":"X9","shape":[2],"data_offsets":[0,8]}})";
  EXPECT_THAT(error_of(with_length(type), 8 + type.size() + 8), HasSubstr("Unsupported"));
  const std::string bare = R"({"a":{"dtype":"F32","shape":[2]}})";
  EXPECT_THAT(error_of(with_length(bare), 8 + bare.size() + 8),
              EndsWith("tensor a: key 'data_offsets' not found"));
}

}  // namespace
}  // namespace trireme::checkpoint::format
