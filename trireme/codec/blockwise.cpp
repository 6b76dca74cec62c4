// Blockwise quantization: values in blocks of 256 with one scale per block, in 8, 4 or 1 bits per
// value.
//
//   int8  |error| <= max|block| / 127, stochastic rounding, unbiased
//   int4  |error| <= max|block| / 7, stochastic rounding, unbiased
//   sign  the sign of each value times the mean magnitude of its block:
//         error norm^2 = norm^2 - (sum of magnitudes)^2 / m, where m is the number of values in the
//         block that belong to parameters (256 except in the last block of a bucket and in blocks
//         that overlap a gap between parameters)
//
// A block with max|block| below 127 * 2^-120 (int4: 7 * 2^-120) becomes zero: its error is |x|.
// Apart from that, "unbiased" holds up to 2^-14 of a quantization step, because the dither has 2^16
// levels and step counts are float32. If a block contains a non-finite value, the whole block
// decodes to NaN.
//
// Wire format:   one float32 scale per block, then the codes of all blocks; those of the last block
//                are not padded.
// Thread safety: pure functions; any thread may call them.

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "trireme/base/check.h"
#include "trireme/base/philox.h"
#include "trireme/codec/codec.h"
#include "trireme/codec/codec_config.h"
#include "trireme/codec/coded_size.h"
#include "trireme/codec/kernel/blocks.h"

namespace trireme::codec {
namespace {

enum class Width { Eight, Four, One };  // bits

using kernel::kBlock;

// The number of blocks per kernel call: their seeds and scales stay on the stack.
constexpr std::size_t kBatch = 64;

void draw_seeds(const Draw& draw, std::size_t first, std::span<std::uint64_t> seeds) {
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    const PhiloxBlock random = philox(philox_key(draw.seed ^ std::uint64_t{draw.rank} << 32),
                                      philox_counter(first + i, draw.stream));
    seeds[i] = random[0] | std::uint64_t{random[1]} << 32;
  }
}

std::size_t blocks_of(std::size_t count) noexcept {
  return (count + kBlock - 1) / kBlock;
}

// Calls `take(begin, end)` for each gap before, between and after the parts.
template <class Take>
void for_gaps(std::size_t count, std::span<const BucketPart> parts, Take&& take) {
  if (parts.empty()) return;
  std::size_t end = 0;
  for (const BucketPart& part : parts) {
    if (part.begin > end) take(end, part.begin);
    end = part.begin + part.count;
  }
  if (count > end) take(end, count);
}

// For each block: the number of its values that belong to parameters.
std::vector<float> counts_of(std::size_t count, std::span<const BucketPart> parts) {
  std::vector<float> counts(blocks_of(count), float{kBlock});
  if (const std::size_t rest = count % kBlock; rest > 0) counts.back() = static_cast<float>(rest);
  for_gaps(count, parts, [&](std::size_t begin, std::size_t end) {
    while (begin < end) {
      const std::size_t next = std::min(end, (begin / kBlock + 1) * kBlock);
      counts[begin / kBlock] -= static_cast<float>(next - begin);
      begin = next;
    }
  });
  for (float& one : counts) one = std::max(one, 1.0f);  // avoids a division by zero
  return counts;
}

// A sign cannot represent zero, so the gaps between parts are set to zero explicitly.
void clear_gaps(std::span<float> values, std::span<const BucketPart> parts) {
  for_gaps(values.size(), parts, [&](std::size_t begin, std::size_t end) {
    std::fill(values.begin() + static_cast<std::ptrdiff_t>(begin),
              values.begin() + static_cast<std::ptrdiff_t>(end), 0.0f);
  });
}

void encode_with(Width width, const kernel::Encoding& encoding) {
  const kernel::Loops& loops = kernel::loops();
  if (width == Width::Eight) return loops.encode8(encoding);
  if (width == Width::Four) return loops.encode4(encoding);
  loops.encode_signs(encoding);
}

void add_with(Width width, const kernel::Decoding& decoding) {
  const kernel::Loops& loops = kernel::loops();
  if (width == Width::Eight) return loops.add8(decoding);
  if (width == Width::Four) return loops.add4(decoding);
  loops.add_signs(decoding);
}

class Blockwise final : public Codec {
 public:
  explicit Blockwise(Width width) : width_(width) {}

  std::size_t size_max(std::size_t count, std::span<const BucketPart>) const override {
    return blocks_of(count) * sizeof(float) + code_size(count);
  }

  std::size_t encode(std::span<const float> values, std::span<const BucketPart> parts,
                     const Draw& draw, std::span<std::byte> out) const override {
    return run(values, nullptr, parts, draw, out);
  }

  void add(ByteView coded, std::span<const BucketPart> parts, std::span<float> sum) const override {
    expect_size(coded, size_max(sum.size(), {}));
    const std::size_t blocks = blocks_of(sum.size()), whole = sum.size() / kBlock;
    const auto* codes =
        reinterpret_cast<const std::uint8_t*>(coded.data()) + blocks * sizeof(float);
    std::array<float, kBatch> scales;
    for (std::size_t b = 0; b < whole; b += kBatch) {
      const std::size_t some = std::min(kBatch, whole - b);
      std::memcpy(scales.data(), coded.data() + b * sizeof(float), some * sizeof(float));
      add_with(width_, {.scales = scales.data(),
                        .codes = codes + code_size(b * kBlock),
                        .blocks = some,
                        .sum = sum.data() + b * kBlock});
    }
    if (const std::size_t rest = sum.size() % kBlock; rest > 0) {
      std::array<float, kBlock> last{};
      std::array<std::uint8_t, kBlock> padded{};
      const std::size_t begin = whole * kBlock;
      std::copy_n(sum.data() + begin, rest, last.data());
      std::copy_n(codes + code_size(begin), code_size(rest), padded.data());
      std::memcpy(scales.data(), coded.data() + whole * sizeof(float), sizeof(float));
      add_with(width_,
               {.scales = scales.data(), .codes = padded.data(), .blocks = 1, .sum = last.data()});
      std::copy_n(last.data(), rest, sum.data() + begin);
    }
    if (width_ == Width::One) clear_gaps(sum, parts);
  }

  std::size_t encode_fed(std::span<const float> values, std::span<float> residual,
                         std::span<const BucketPart> parts, const Draw& draw,
                         std::span<std::byte> out) const override {
    TRIREME_CHECK_EQ(values.size(), residual.size(), "values and their residual");
    const std::size_t size = run(values, residual.data(), parts, draw, out);
    if (width_ == Width::One) clear_gaps(residual, parts);
    return size;
  }

  bool is_unbiased() const override { return width_ != Width::One; }

 private:
  // The size in bytes of the codes of `count` values; only the last block may be incomplete.
  std::size_t code_size(std::size_t count) const noexcept {
    const std::size_t whole = count / kBlock, rest = count % kBlock;
    if (width_ == Width::Eight) return count;
    if (width_ == Width::Four) return whole * kernel::kNibbles + std::min(rest, kernel::kNibbles);
    return whole * kernel::kSigns + (rest + 7) / 8;
  }

  std::size_t run(std::span<const float> values, float* residual, std::span<const BucketPart> parts,
                  const Draw& draw, std::span<std::byte> out) const {
    const std::size_t blocks = blocks_of(values.size()), whole = values.size() / kBlock;
    std::byte* scales = out.data();
    auto* codes = reinterpret_cast<std::uint8_t*>(out.data() + blocks * sizeof(float));
    std::array<std::uint64_t, kBatch> seeds;
    std::array<float, kBatch> found;
    std::vector<float> counts;
    if (width_ == Width::One) counts = counts_of(values.size(), parts);
    // Received bytes may not be aligned for floats, so the scales are copied.
    const auto encode_some = [&](std::size_t first, kernel::Encoding how) {
      draw_seeds(draw, first, {seeds.data(), how.blocks});
      how.seeds = seeds.data();
      how.counts = counts.empty() ? nullptr : counts.data() + first;
      how.scales = found.data();
      encode_with(width_, how);
      std::memcpy(scales + first * sizeof(float), found.data(), how.blocks * sizeof(float));
    };
    for (std::size_t b = 0; b < whole; b += kBatch) {
      encode_some(b, {.values = values.data() + b * kBlock,
                      .residual = residual == nullptr ? nullptr : residual + b * kBlock,
                      .blocks = std::min(kBatch, whole - b),
                      .codes = codes + code_size(b * kBlock)});
    }
    if (const std::size_t rest = values.size() % kBlock; rest > 0) {
      std::array<float, kBlock> last{}, left{};
      std::array<std::uint8_t, kBlock> coded;
      const std::size_t begin = whole * kBlock;
      std::copy_n(values.data() + begin, rest, last.data());
      if (residual != nullptr) std::copy_n(residual + begin, rest, left.data());
      encode_some(whole, {.values = last.data(),
                          .residual = residual == nullptr ? nullptr : left.data(),
                          .blocks = 1,
                          .codes = coded.data()});
      std::copy_n(coded.data(), code_size(rest), codes + code_size(begin));
      if (residual != nullptr) std::copy_n(left.data(), rest, residual + begin);
    }
    return blocks * sizeof(float) + code_size(values.size());
  }

  Width width_;
};

}  // namespace

std::shared_ptr<const Codec> make_blockwise(const CodecConfig& config) {
  return std::make_shared<Blockwise>(config.kind == CodecKind::Int8   ? Width::Eight
                                     : config.kind == CodecKind::Int4 ? Width::Four
                                                                      : Width::One);
}

}  // namespace trireme::codec
