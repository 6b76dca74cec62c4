// Half sends values as 16-bit floats, rounded to nearest even.
//
//   fp16  |error| <= max(2^-11 |x|, 2^-25) up to 65504; larger values become 65504
//   bf16  |error| <= max(2^-8 |x|, 2^-134), up to the largest float
//
// Infinity and NaN are preserved. Rounding is deterministic and therefore not unbiased.
//
// Wire format:   two bytes per value.
// Thread safety: pure functions; any thread may call them.

#include <algorithm>
#include <array>
#include <cstring>

#include "trireme/base/check.h"
#include "trireme/codec/codec.h"
#include "trireme/codec/codec_config.h"
#include "trireme/codec/coded_size.h"
#include "trireme/codec/kernel/blocks.h"

namespace trireme::codec {
namespace {

// The number of values converted at a time, on the stack, because received bytes may not be aligned
// for 16-bit numbers.
constexpr std::size_t kRun = 480;

class Half final : public Codec {
 public:
  explicit Half(CodecKind kind) : kind_(kind) {}

  std::size_t size_max(std::size_t count, std::span<const BucketPart>) const override {
    return count * 2;
  }
  std::size_t encode(std::span<const float> values, std::span<const BucketPart>, const Draw&,
                     std::span<std::byte> out) const override {
    const kernel::Loops& loops = kernel::loops();
    const auto narrow = kind_ == CodecKind::Fp16 ? loops.narrow_half : loops.narrow_bfloat16;
    std::array<std::uint16_t, kRun> run;
    for (std::size_t begin = 0; begin < values.size(); begin += kRun) {
      const std::size_t count = std::min(kRun, values.size() - begin);
      narrow(values.data() + begin, run.data(), count);
      std::memcpy(out.data() + begin * 2, run.data(), count * 2);
    }
    return values.size() * 2;
  }

  void add(ByteView coded, std::span<const BucketPart>, std::span<float> sum) const override {
    expect_size(coded, sum.size() * 2);
    const kernel::Loops& loops = kernel::loops();
    const auto widen = kind_ == CodecKind::Fp16 ? loops.add_half : loops.add_bfloat16;
    std::array<std::uint16_t, kRun> run;
    for (std::size_t begin = 0; begin < sum.size(); begin += kRun) {
      const std::size_t count = std::min(kRun, sum.size() - begin);
      std::memcpy(run.data(), coded.data() + begin * 2, count * 2);
      widen(run.data(), sum.data() + begin, count);
    }
  }

  // Processes one run at a time, so that all of its data stays in the L1 cache.
  std::size_t encode_fed(std::span<const float> values, std::span<float> residual,
                         std::span<const BucketPart> parts, const Draw& draw,
                         std::span<std::byte> out) const override {
    TRIREME_CHECK_EQ(values.size(), residual.size(), "values and their residual");
    const kernel::Loops& loops = kernel::loops();
    std::array<float, kRun> whole, decoded;
    for (std::size_t begin = 0; begin < values.size(); begin += kRun) {
      const std::size_t count = std::min(kRun, values.size() - begin);
      loops.feed(values.data() + begin, residual.data() + begin, whole.data(), count);
      const auto room = out.subspan(begin * 2, count * 2);
      encode({whole.data(), count}, parts, draw, room);
      std::fill_n(decoded.data(), count, 0.0f);
      add(room, parts, {decoded.data(), count});
      loops.leave(whole.data(), decoded.data(), residual.data() + begin, count);
    }
    return values.size() * 2;
  }

  bool is_unbiased() const override { return false; }

 private:
  CodecKind kind_;
};

}  // namespace

std::shared_ptr<const Codec> make_half(const CodecConfig& config) {
  return std::make_shared<Half>(config.kind);
}

}  // namespace trireme::codec
