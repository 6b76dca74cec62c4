// Lossless compresses floats without loss: it groups their bytes by significance and compresses
// them with zstd. Signs and exponents of neighbours are similar, which saves about a tenth; the
// remaining bits are close to random.
//
// Error:         none; NaN and infinity keep their bits.
// Wire format:   one byte, 1 if the following data is compressed, 0 if it would not become smaller.
// Errors:        the constructor throws Unsupported in a build without zstd (stub.cpp).
// Thread safety: pure functions; any thread may call them.

#pragma once

#include "trireme/codec/codec.h"

namespace trireme::codec::zstd {

// True if this build includes zstd.
bool is_available() noexcept;

class Lossless final : public Codec {
 public:
  explicit Lossless(int level);

  std::size_t size_max(std::size_t count, std::span<const BucketPart>) const override {
    return 1 + count * sizeof(float);
  }
  bool is_fixed_size() const override { return false; }
  std::size_t encode(std::span<const float> values, std::span<const BucketPart> parts,
                     const Draw& draw, std::span<std::byte> out) const override;
  void add(ByteView coded, std::span<const BucketPart> parts, std::span<float> sum) const override;
  bool is_unbiased() const override { return true; }

 private:
  int level_;
};

}  // namespace trireme::codec::zstd
