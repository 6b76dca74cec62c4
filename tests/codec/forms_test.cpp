// Goal:   the output of each codec has the documented size, and known values have known bytes.
// Method: a few values computed by hand.

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "trireme/codec/kinds.h"
#include "trireme/codec/zstd/lossless.h"

namespace trireme::codec {
namespace {

Bytes encoded(const Codec& codec, const std::vector<float>& values) {
  Bytes out(codec.size_max(values.size(), {}));
  out.resize(codec.encode(values, {}, {}, out));
  return out;
}

TEST(CodecForms, BlocksHaveAScaleEach) {
  EXPECT_EQ(make_codec({.kind = CodecKind::Int8})->size_max(256, {}), 4u + 256);
  EXPECT_EQ(make_codec({.kind = CodecKind::Int8})->size_max(257, {}), 8u + 257);
  EXPECT_EQ(make_codec({.kind = CodecKind::Int4})->size_max(256, {}), 4u + 128);
  EXPECT_EQ(make_codec({.kind = CodecKind::Int4})->size_max(300, {}), 8u + 128 + 44);
  EXPECT_EQ(make_codec({.kind = CodecKind::Sign})->size_max(256, {}), 4u + 32);
  EXPECT_EQ(make_codec({.kind = CodecKind::Sign})->size_max(1, {}), 4u + 1);
}

TEST(CodecForms, SignsAreBitsAndAMean) {
  std::vector<float> values(256, 1.0f);
  values[0] = -3;
  values[9] = -1;
  const Bytes out = encoded(*make_codec({.kind = CodecKind::Sign}), values);
  float scale = 0;
  std::memcpy(&scale, out.data(), sizeof(scale));
  EXPECT_EQ(scale, 258.0f / 256);
  EXPECT_EQ(out[4], std::byte{1});
  EXPECT_EQ(out[5], std::byte{2});
  EXPECT_EQ(out[6], std::byte{0});
}

TEST(CodecForms, HalvesAreThoseOfIeee) {
  const Bytes half = encoded(*make_codec({.kind = CodecKind::Fp16}), {1.0f, -2.0f});
  EXPECT_EQ(half, (Bytes{std::byte{0x00}, std::byte{0x3c}, std::byte{0x00}, std::byte{0xc0}}));
  const Bytes brain = encoded(*make_codec({.kind = CodecKind::Bf16}), {1.0f, -2.0f});
  EXPECT_EQ(brain, (Bytes{std::byte{0x80}, std::byte{0x3f}, std::byte{0x00}, std::byte{0xc0}}));
}

TEST(CodecForms, LosslessIsSmallerWhereItCanBe) {
  if (!zstd::is_available()) GTEST_SKIP() << "NOT TESTED: this build has no zstd";
  const zstd::Lossless codec(1);
  const std::vector<float> alike(1000, 0.25f);
  EXPECT_LT(encoded(codec, alike).size(), 200u);
  EXPECT_EQ(encoded(codec, {0.1f}).size(), 5u);
  std::vector<float> sum(1000, 1);
  codec.add(encoded(codec, alike), {}, sum);
  EXPECT_EQ(sum, std::vector<float>(1000, 1.25f));
}

}  // namespace
}  // namespace trireme::codec
