#include "trireme/model/layer/dropout.h"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/ops/empty_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "trireme/base/check.h"
#include "trireme/base/philox.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__SANITIZE_THREAD__)
#define TRIREME_WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define TRIREME_WIDE
#endif

namespace trireme::model {
namespace {

// Makes these streams independent of those of parameters and data, which share the seed.
constexpr std::uint64_t kPurpose = 0x64726F706F757421;
constexpr int kLanes = 16;                       // philox blocks processed at once
constexpr std::int64_t kBits = 8;                // elements per block: 16 bits each
constexpr std::int64_t kGroup = kLanes * kBits;  // elements processed at once

// Computes elements [group * kGroup, + kGroup) of a sample. Element e uses half-word e / kLanes of
// lane e % kLanes, so that every loop is over lanes and becomes one vector instruction.
TRIREME_WIDE void make_group(PhiloxKey key, std::uint32_t first, std::uint32_t place,
                             std::uint32_t c2, std::uint32_t c3, std::uint32_t threshold,
                             float scale, float* out) {
  std::uint32_t a[kLanes], b[kLanes], c[kLanes], d[kLanes];
  for (int i = 0; i < kLanes; ++i) {
    a[i] = first + static_cast<std::uint32_t>(i);
    b[i] = place;
    c[i] = c2;
    d[i] = c3;
  }
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < kLanes; ++i) {
      const std::uint64_t x = std::uint64_t{0xD2511F53} * a[i];
      const std::uint64_t y = std::uint64_t{0xCD9E8D57} * c[i];
      a[i] = static_cast<std::uint32_t>(y >> 32) ^ b[i] ^ key[0];
      b[i] = static_cast<std::uint32_t>(y);
      c[i] = static_cast<std::uint32_t>(x >> 32) ^ d[i] ^ key[1];
      d[i] = static_cast<std::uint32_t>(x);
    }
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  const std::uint32_t* words[4] = {a, b, c, d};
  for (int word = 0; word < 4; ++word) {
    const std::uint32_t* bits = words[word];
    float* low = out + static_cast<std::ptrdiff_t>(2 * word) * kLanes;
    float* high = low + kLanes;
    for (int i = 0; i < kLanes; ++i) low[i] = (bits[i] & 0xFFFF) < threshold ? 0.0f : scale;
    for (int i = 0; i < kLanes; ++i) high[i] = (bits[i] >> 16) < threshold ? 0.0f : scale;
  }
}

std::uint32_t threshold_of(double p) {
  return static_cast<std::uint32_t>(std::lround(p * 65536));
}

void apply(const at::Tensor& in, const at::Tensor& out, double p, int layer,
           const Context& context) {
  const std::int64_t rows = in.size(0);
  const std::int64_t columns = rows ? in.numel() / rows : 0;
  const at::Tensor places =
      context.places.defined() ? context.places.cpu().contiguous() : at::Tensor();
  const std::int64_t* place = places.defined() ? places.const_data_ptr<std::int64_t>() : nullptr;
  const std::int64_t groups = (columns + kGroup - 1) / kGroup;
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, in.scalar_type(), "dropout", [&] {
    const scalar_t* from = in.const_data_ptr<scalar_t>();
    scalar_t* to = out.data_ptr<scalar_t>();
    at::parallel_for(0, rows * groups, 64, [&](std::int64_t begin, std::int64_t end) {
      std::array<float, kGroup> factors;
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t row = i / groups, column = i % groups * kGroup;
        const std::int64_t count = std::min(kGroup, columns - column);
        dropout_factors({context.seed, context.step, layer, place ? place[row] : row}, p, column,
                        count, factors.data());
        const scalar_t* x = from + row * columns + column;
        scalar_t* y = to + row * columns + column;
        for (std::int64_t k = 0; k < count; ++k) y[k] = x[k] * static_cast<scalar_t>(factors[k]);
      }
    });
  });
}

at::Tensor dropped(const at::Tensor& x, double p, int layer, const Context& context) {
  const at::Tensor in = x.cpu().contiguous();
  const at::Tensor out = at::empty_like(in, at::MemoryFormat::Contiguous);
  apply(in, out, p, layer, context);
  return out.to(x.device());
}

struct Kept : torch::CustomClassHolder {
  Kept(double rate, int where, Context all) : p(rate), layer(where), context(std::move(all)) {}
  double p;
  int layer;
  Context context;
};

struct Dropout : torch::autograd::Function<Dropout> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& x,
                            const c10::intrusive_ptr<Kept>& kept) {
    ctx->saved_data["kept"] = c10::IValue::make_capsule(kept);
    return dropped(x, kept->p, kept->layer, kept->context);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 const torch::autograd::variable_list& gradients) {
    const auto holder = ctx->saved_data["kept"].toCapsule();
    const Kept& kept = static_cast<const Kept&>(*holder);
    return {dropped(gradients[0], kept.p, kept.layer, kept.context), at::Tensor()};
  }
};

}  // namespace

void dropout_factors(const DropoutKey& key, double p, std::int64_t begin, std::int64_t count,
                     float* out) {
  const std::uint32_t threshold = threshold_of(p);
  const float scale = 65536.0f / (65536.0f - static_cast<float>(threshold));
  const auto step = static_cast<std::uint64_t>(key.step);
  const auto c2 = static_cast<std::uint32_t>(step);
  const auto c3 = static_cast<std::uint32_t>(step >> 32 << 16 | (key.layer & 0xFFFF));
  std::array<float, kGroup> group;
  for (std::int64_t at = begin / kGroup * kGroup; at < begin + count; at += kGroup) {
    const std::int64_t from = std::max(at, begin), to = std::min(at + kGroup, begin + count);
    const bool is_whole = to - from == kGroup;
    float* target = is_whole ? out + (from - begin) : group.data();
    make_group(philox_key(key.seed ^ kPurpose), static_cast<std::uint32_t>(at / kBits),
               static_cast<std::uint32_t>(key.place), c2, c3, threshold, scale, target);
    if (!is_whole) std::copy(target + (from - at), target + (to - at), out + (from - begin));
  }
}

at::Tensor dropout(const at::Tensor& x, double p, int layer, const Context& context) {
  TRIREME_CHECK(p >= 0 && p < 1, "a dropout probability of ", p);
  if (!context.is_training || threshold_of(p) == 0 || x.numel() == 0) return x;
  TRIREME_CHECK(threshold_of(p) < 65536, "a dropout probability of ", p, " keeps nothing");
  if (context.places.defined()) {
    TRIREME_CHECK_EQ(context.places.numel(), x.size(0), "places of a batch");
  }
  return Dropout::apply(x, c10::make_intrusive<Kept>(p, layer, context));
}

}  // namespace trireme::model
