// Goal:   a manifest is unchanged after a round trip, and all damage to it is detected.
// Method: converts it to text and back; then flips every single bit of the text.

#include "trireme/checkpoint/format/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <utility>

#include "trireme/base/bytes.h"
#include "trireme/base/error.h"
#include "trireme/base/hash/xxh64.h"
#include "trireme/checkpoint/format/manifest_text.h"

namespace trireme::checkpoint::format {
namespace {

using ::testing::HasSubstr;

Manifest sample() {
  Manifest manifest{.step = 1234, .score = 0.1, .meta = R"({"position":{"epoch":2},"x":0.1})"};
  manifest.files = {{.name = "part-00000.safetensors", .size = 1 << 20}};
  manifest.tensors = {
      {.name = "weight",
       .dtype = StoredDType::BF16,
       .view = {{2, 5}},
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
      {.name = "empty", .view = {{0}}, .pieces = {{.file = "part-00000.safetensors"}}}};
  settle(manifest);
  return manifest;
}

TEST(Manifest, IsReadBackUnchanged) {
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

TEST(Manifest, EveryFlippedBitIsDetected) {
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
    EXPECT_THAT(error.message(), HasSubstr("tensor weight: it has 10 elements, its pieces 3"));
  }
  Manifest twice = sample();
  twice.tensors.push_back(twice.tensors[0]);
  EXPECT_THROW(settle(twice), Error);
}

// The text without its last line, changed, and with a matching checksum: a deliberate change.
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

TEST(Manifest, FalseStatementsAreCorrupt) {
  const std::string huge = "9223372036854775807";
  std::string dims;
  for (int i = 0; i < 80; ++i) dims += ",1";
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"\"trireme-checkpoint\"", "7"},
           {"\"trireme-checkpoint\"", "\"another\""},
           {"\"0000000000000001\"", "\"000000000000000g\""},
           {"\"0000000000000001\"", "\"zzzzzzzzzzzzzzzz\""},
           {"\"0000000000000001\"", "\"-000000000000001\""},
           {"[2,5]", "[2,-5]"},
           {"[2,5]", "[2,5" + dims + "]"},
           {"[2,5]", "[" + huge + "," + huge + "]"},
           {"\"count\":3", "\"count\":" + huge},
           {"\"step\":1234", "\"step\":[]"},
           {"\"files\":[", "\"files\":[5,"},
           {"\"pieces\":[", "\"pieces\":[\"a\","},
           {"\"tensors\":[", "\"tensors\":[[5],"},
           {"[\"0000000000000001\"]", "\"0000000000000001\""},
           {"{\"epoch\":2}", std::string(1'000'000, '[') + std::string(1'000'000, ']')}}) {
    try {
      parse_manifest(forged(from, to), "m");
      ADD_FAILURE() << "accepted " << to;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Corrupt) << to << ": " << error.what();
    }
  }
}

// The part with two tensors of one piece each, as a writer would create it.
Manifest sealed_sample() {
  Manifest manifest{.step = 1};
  manifest.files = {{.name = "part-00000.sealed", .size = 1 << 20, .is_compressed = true}};
  for (const char* name : {"a", "b"}) {
    manifest.tensors.push_back({.name = name,
                                .view = {{100}},
                                .pieces = {{.file = "part-00000.sealed",
                                            .count = 100,
                                            .offset = *name == 'a' ? 0u : 200u,
                                            .checksums = {1},
                                            .stored = {200}}}});
  }
  return manifest;
}

// Readers trust these sizes: they decide how many bytes are read into a buffer of the tensor's
// size.
TEST(Manifest, ImpossibleSizesAndPlacesAreCorrupt) {
  const auto expect_corrupt = [](const Manifest& manifest, const std::string& what) {
    for (const Coverage coverage : {Coverage::Whole, Coverage::Part}) {
      try {
        parse_manifest(manifest_text(manifest, {}, coverage), "m", {}, coverage);
        ADD_FAILURE() << "accepted: " << what;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::Corrupt);
        EXPECT_THAT(error.message(), HasSubstr(what));
      }
    }
  };
  using Edit = std::function<void(Manifest&, StoredPiece&)>;
  const auto plain = [&](const Edit& edit, const std::string& what) {
    Manifest manifest = sample();
    edit(manifest, manifest.tensors[1].pieces[1]);
    expect_corrupt(manifest, what);
  };
  plain([](auto&, auto& piece) { piece.stored = {1 << 30}; }, "1 stored sizes for 1 chunks");
  plain([](auto&, auto& piece) { piece.stored = {14}; }, "in the plain part part-00000");
  plain([](auto&, auto& piece) { piece.checksums = {}; }, "0 checksums for 14 bytes");
  plain([](auto&, auto& piece) { piece.offset = (1 << 20) - 13; }, "14 bytes at byte 1048563");
  plain([](auto&, auto& piece) { piece.offset = ~std::uint64_t{0} - 3; }, "which has 1048576");
  plain([](auto&, auto& piece) { piece.offset = 69; }, "share bytes of part-00000.safetensors");
  plain([](auto&, auto& piece) { piece.begin = -1; }, "at element -1 of 10");
  plain([](auto&, auto& piece) { piece.file = "part-00007"; }, "which is not listed");
  plain([](auto& all, auto&) { all.files.push_back(all.files[0]); }, "is listed twice");
  plain([](auto& all, auto&) { all.files[0].size = ~std::uint64_t{0}; }, "an impossible size");
  for (const char* name : {"", "..", "../other", "/etc/passwd"}) {
    plain([&](auto& all, auto&) { all.files[0].name = name; }, "it lists a file called");
  }

  EXPECT_EQ(parse_manifest(manifest_text(sealed_sample()), "m").tensors.size(), 2u);
  const auto sealed = [&](const Edit& edit, const std::string& what) {
    Manifest manifest = sealed_sample();
    edit(manifest, manifest.tensors[0].pieces[0]);
    expect_corrupt(manifest, what);
  };
  sealed([](auto&, auto& piece) { piece.stored = {}; }, "0 stored sizes for 1 chunks");
  sealed([](auto&, auto& piece) { piece.stored = {0}; }, "400 bytes cannot take 0 bytes");
  sealed([](auto&, auto& piece) { piece.stored = {401}; }, "400 bytes cannot take 401 bytes");
  sealed([](auto&, auto& piece) { piece.stored = {201}; }, "tensors a and b share bytes");
  sealed([](auto& all, auto&) { all.files[0].size = 399; }, "200 bytes at byte 200 of part-00000");
  // An encrypted chunk without compression is exactly 16 bytes longer than its data.
  Manifest encrypted = sealed_sample();
  encrypted.files[0].is_compressed = false;
  encrypted.files[0].key_id = "k";
  EXPECT_THAT(fault_in(encrypted, Coverage::Whole), HasSubstr("400 bytes cannot take 200 bytes"));
  for (StoredTensor& tensor : encrypted.tensors) tensor.pieces[0].stored = {416};
  encrypted.tensors[1].pieces[0].offset = 416;
  EXPECT_EQ(fault_in(encrypted, Coverage::Whole), "");
}

// A fused weight, cut by heads over two ranks, the shard of the second over two more.
Manifest boxed_sample() {
  Manifest manifest{.step = 1};
  manifest.files = {{.name = "part-00000.safetensors", .size = 1 << 20}};
  StoredTensor tensor{
      .name = "qkv", .dtype = StoredDType::U8, .view = mesh::View::split({{3, 4, 2}, {5}})};
  const auto add = [&](const mesh::Box& box, std::int64_t begin, std::int64_t count) {
    tensor.pieces.push_back({.file = "part-00000.safetensors",
                             .box = box,
                             .begin = begin,
                             .count = count,
                             .offset = tensor.pieces.size() * 100,
                             .checksums = {1}});
  };
  add({{0, 0, 0, 0}, {3, 2, 2, 5}}, 0, 60);
  add({{0, 2, 0, 0}, {3, 2, 2, 5}}, 0, 29);
  add({{0, 2, 0, 0}, {3, 2, 2, 5}}, 29, 31);
  manifest.tensors = {tensor};
  return manifest;
}

TEST(Manifest, BoxesAreReadBackUnchangedAndDefaultsAreLeftOut) {
  const std::string text = manifest_text(boxed_sample());
  EXPECT_THAT(text, HasSubstr(R"("sizes":[24,5],"view":[[3,4,2],[5]],"pieces":[{)"
                              R"("file":"part-00000.safetensors",)"
                              R"("box":{"begin":[0,0,0,0],"sizes":[3,2,2,5]},"offset":0,)"));
  EXPECT_THAT(text, HasSubstr(R"("sizes":[3,2,2,5]},"begin":29,"count":31,)"));
  const Manifest read = parse_manifest(text, "m");
  EXPECT_EQ(manifest_text(read), text);
  EXPECT_EQ(read.tensors[0].pieces[0].count, 60);
  EXPECT_EQ(read.tensors[0].pieces[2].box->begin, (std::vector<std::int64_t>{0, 2, 0, 0}));
  // Plain tensors have neither.
  EXPECT_EQ(manifest_text(sample()).find("view"), std::string::npos);
  EXPECT_EQ(manifest_text(sample()).find("box"), std::string::npos);
  EXPECT_EQ(manifest_text(sealed_sample()).find("count"), std::string::npos);
}

TEST(Manifest, BoxesThatDoNotCoverTheTensorOnceAreCorrupt) {
  using Edit = std::function<void(std::vector<StoredPiece>&)>;
  const auto expect_fault = [](const Edit& edit, const std::string& what) {
    Manifest manifest = boxed_sample();
    edit(manifest.tensors[0].pieces);
    EXPECT_THAT(fault_in(manifest, Coverage::Whole), HasSubstr("tensor qkv: " + what));
  };
  EXPECT_EQ(fault_in(boxed_sample(), Coverage::Whole), "");
  const std::string second = "the box of (0, 2, 0, 0) to (3, 4, 2, 5): ";
  expect_fault([](auto& all) { all.pop_back(); }, second + "it has 60 elements, its pieces 29");
  expect_fault([](auto& all) { all[2].begin = 28; },
               second + "a piece begins at element 28 where 29 should");
  expect_fault([](auto& all) { all.erase(all.begin()); }, "no box covers (0, 0, 0, 0) to (3, 2,");
  expect_fault([](auto& all) { all[0].box->begin[1] = 1; }, "no box covers (0, 0, 0, 0) to (3, 1,");
  expect_fault([](auto& all) { all[0].box.reset(); }, "it has 120 elements, its pieces 60");
  expect_fault([](auto& all) { all[1].box->sizes[1] = 3; },
               "a box of (3, 3, 2, 5) at (0, 2, 0, 0)");
  expect_fault([](auto& all) { all[1].box->sizes.pop_back(); }, "a box of (3, 2, 2) at");
  expect_fault([](auto& all) { all[2].count = 32; }, "a piece of 32 elements at element 29 of 60");
  Manifest twice = boxed_sample();
  StoredPiece copy = twice.tensors[0].pieces[0];
  copy.offset = 1000;
  copy.box->sizes[0] = 2;
  copy.count = 40;
  twice.tensors[0].pieces.insert(twice.tensors[0].pieces.begin() + 1, copy);
  EXPECT_THAT(fault_in(twice, Coverage::Whole), HasSubstr("overlap"));
}

TEST(Manifest, ImpossibleViewsAndBoxesAreCorrupt) {
  const std::string text = manifest_text(boxed_sample());
  const std::string huge = "9223372036854775807";
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"[[3,4,2],[5]]", "[[3,4,2]]"},
           {"[[3,4,2],[5]]", "[[3,8],[4]]"},
           {"[[3,4,2],[5]]", "[[],[3,4,2],[5]]"},
           {"[[3,4,2],[5]]", "[[-3,4,-2],[5]]"},
           {"[[3,4,2],[5]]", "[[" + huge + "," + huge + "],[5]]"},
           {"[[3,4,2],[5]]", "7"},
           {"[[3,4,2],[5]]", "{\"a\":[3,4,2],\"b\":[5]}"},
           {"[24,5]", "[24,6]"},
           {"{\"begin\":[0,0,0,0],\"sizes\":[3,2,2,5]}", "5"},
           {"{\"begin\":[0,0,0,0],\"sizes\":[3,2,2,5]}", "[[0,0,0,0],[3,2,2,5]]"},
           {"{\"begin\":[0,0,0,0]", "{\"begin\":[0,0,0]"},
           {"{\"begin\":[0,0,0,0]", "{\"begin\":[0,0,0,-1]"},
           {"{\"begin\":[0,0,0,0]", "{\"begin\":[0," + huge + ",0,0]"},
           {"\"sizes\":[3,2,2,5]}", "\"sizes\":[3,2,2,6]}"},
           {"\"begin\":29,", ""}}) {
    std::string edited = text.substr(0, text.rfind(",\n\"checksum\""));
    const std::size_t at = edited.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    edited.replace(at, from.size(), to);
    char checksum[17];
    std::snprintf(checksum, sizeof(checksum), "%016llx",
                  static_cast<unsigned long long>(xxh64(bytes_of(edited))));
    edited += ",\n\"checksum\":\"" + std::string(checksum) + "\"}\n";
    try {
      parse_manifest(edited, "m");
      ADD_FAILURE() << "accepted " << to;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Corrupt) << to << ": " << error.what();
    }
  }
}

TEST(Manifest, TensorsOutOfOrderAreCorrupt) {
  Manifest manifest = sealed_sample();
  std::swap(manifest.tensors[0], manifest.tensors[1]);
  EXPECT_THROW(parse_manifest(manifest_text(manifest), "m"), Error);  // find() would not find them
}

TEST(Manifest, MetaIsAJsonObject) {
  Manifest manifest = sample();
  for (const char* meta : {"step = 3", "[]", "3"}) {
    manifest.meta = meta;
    EXPECT_THROW(manifest_text(manifest), Error) << meta;
  }
}

}  // namespace
}  // namespace trireme::checkpoint::format
