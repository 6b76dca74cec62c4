// Lossless loses nothing: the four bytes of floats, sorted by their place, as zstd squeezes them.
// Signs and exponents of neighbours are alike, so about a tenth goes away; the rest is noise.
//
// Error: none; NaN and infinity arrive with their bits. Without zstd in the build, stub.cpp says
// so.
//
// Wire:    a byte, 1 where what follows is squeezed, 0 where it would not become smaller.
// Failure: the constructor throws Unsupported in a build without zstd.
// Threads: pure.

#pragma once

#include "trireme/codec/codec.h"

namespace trireme::codec::zstd {

// Whether this build has it.
bool is_available() noexcept;

class Lossless final : public Codec {
 public:
  explicit Lossless(int level);

  std::size_t size_max(std::size_t count, std::span<const Part>) const override {
    return 1 + count * sizeof(float);
  }
  bool is_fixed_size() const override { return false; }
  std::size_t encode(std::span<const float> values, std::span<const Part> parts, const Draw& draw,
                     std::span<std::byte> out) const override;
  void add(ByteView coded, std::span<const Part> parts, std::span<float> sum) const override;
  bool is_unbiased() const override { return true; }

 private:
  int level_;
};

}  // namespace trireme::codec::zstd
