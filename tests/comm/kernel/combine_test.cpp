// Goal:   combine() fulfils its contract for every type, operation, number of sources, length and
//         aliasing.
// Method: all combinations of these over random bits, including NaN and infinities, compared with a
//         reference that adds one element at a time along the tree.

#include "trireme/comm/kernel/combine.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "trireme/base/random.h"
#include "trireme/comm/kernel/half.h"

namespace trireme::comm {
namespace {

constexpr std::size_t kCounts[] = {0, 1, 3, 511, 512, 513, 4097};
constexpr std::size_t kSourcesMax = 9;
// Differs from the number of sources: only the divisor matters.
constexpr std::size_t kDivisor = 12;

using Bytes = std::vector<std::byte>;

template <class W>
W join(ReduceOp op, W a, W b) {
  if (op == ReduceOp::Min || op == ReduceOp::Max) {
    if (a != a) return a;
    if (b != b) return b;
    return (op == ReduceOp::Min ? a < b : a > b) ? a : b;
  }
  if constexpr (std::is_integral_v<W>) {
    const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
    return static_cast<W>(op == ReduceOp::Product ? x * y : x + y);
  } else {
    return op == ReduceOp::Product ? a * b : a + b;
  }
}

// An independent implementation of the tree in the contract: the left side is a power of two.
template <class W>
W tree(ReduceOp op, const W* values, std::size_t count) {
  if (count == 1) return values[0];
  const std::size_t left = std::bit_floor(count - 1);
  return join(op, tree(op, values, left), tree(op, values + left, count - left));
}

template <class W>
W mean_of(W sum) {
  if constexpr (std::is_integral_v<W>)
    return static_cast<W>(std::int64_t{sum} / 12);
  else
    return sum / W{12};
}

// Reads one element of a DType as W and writes it back.
template <class T, class W>
struct Plain {
  static W read(const std::byte* at) {
    T value;
    std::memcpy(&value, at, sizeof(T));
    return value;
  }
  static void write(std::byte* at, W value) { std::memcpy(at, &value, sizeof(T)); }
};

template <float (*kWiden)(std::uint16_t), std::uint16_t (*kNarrow)(float)>
struct Packed {
  static float read(const std::byte* at) { return kWiden(Plain<std::uint16_t, int>::read(at)); }
  static void write(std::byte* at, float value) {
    const std::uint16_t bits = kNarrow(value);
    std::memcpy(at, &bits, 2);
  }
};

template <class W, class Element>
Bytes reference(DType type, ReduceOp op, const std::vector<Bytes>& sources, std::size_t count) {
  Bytes out(count * size_of(type));
  for (std::size_t i = 0; i < out.size(); i += size_of(type)) {
    W values[kSourcesMax];
    for (std::size_t s = 0; s < sources.size(); ++s) {
      values[s] = Element::read(sources[s].data() + i);
    }
    const W result = tree(op, values, sources.size());
    Element::write(out.data() + i, op == ReduceOp::Mean ? mean_of(result) : result);
  }
  return out;
}

Bytes expected_of(DType type, ReduceOp op, const std::vector<Bytes>& in, std::size_t count) {
  using F16 = Packed<widen_half, narrow_half>;
  using B16 = Packed<widen_bfloat16, narrow_bfloat16>;
  using I8 = std::int8_t;
  using U8 = std::uint8_t;
  switch (type) {
    case DType::Float64:
      return reference<double, Plain<double, double>>(type, op, in, count);
    case DType::Float32:
      return reference<float, Plain<float, float>>(type, op, in, count);
    case DType::Float16:
      return reference<float, F16>(type, op, in, count);
    case DType::BFloat16:
      return reference<float, B16>(type, op, in, count);
    case DType::Int64:
      return reference<std::int64_t, Plain<std::int64_t, std::int64_t>>(type, op, in, count);
    case DType::Int32:
      return reference<std::int32_t, Plain<std::int32_t, std::int32_t>>(type, op, in, count);
    case DType::Int8:
      return reference<I8, Plain<I8, I8>>(type, op, in, count);
    case DType::UInt8:
      return reference<U8, Plain<U8, U8>>(type, op, in, count);
  }
  return {};
}

bool is_nan(DType type, const std::byte* at) {
  if (type == DType::Float64) return std::isnan(Plain<double, double>::read(at));
  if (type == DType::Float32) return std::isnan(Plain<float, float>::read(at));
  const auto bits = Plain<std::uint16_t, int>::read(at) & 0x7fff;
  if (type == DType::Float16) return bits > 0x7c00;
  return type == DType::BFloat16 && bits > 0x7f80;
}

// Compares bitwise, except for the payload of a NaN.
::testing::AssertionResult same(DType type, const std::byte* got, const Bytes& wanted) {
  const std::size_t element = size_of(type);
  if (wanted.empty()) return ::testing::AssertionSuccess();
  if (std::memcmp(got, wanted.data(), wanted.size()) == 0) return ::testing::AssertionSuccess();
  for (std::size_t i = 0; i < wanted.size(); i += element) {
    if (std::memcmp(got + i, wanted.data() + i, element) == 0) continue;
    if (is_nan(type, got + i) && is_nan(type, wanted.data() + i)) continue;
    return ::testing::AssertionFailure() << "element " << i / element;
  }
  return ::testing::AssertionSuccess();
}

// Half of the elements are random bits; the others are floats near 1, whose sums depend on the
// order, or small integers.
void fill(Random& random, DType type, Bytes& out) {
  for (std::byte& byte : out) byte = static_cast<std::byte>(random.bits32());
  const std::size_t element = size_of(type);
  for (std::size_t i = 0; i < out.size(); i += 2 * element) {
    const float value = random.uniform_float() * 3 - 1.5f;
    if (type == DType::Float64) Plain<double, double>::write(out.data() + i, 1.1 * value);
    if (type == DType::Float32) Plain<float, float>::write(out.data() + i, value);
    if (type == DType::Float16) Packed<widen_half, narrow_half>::write(out.data() + i, value);
    if (type == DType::BFloat16) {
      Packed<widen_bfloat16, narrow_bfloat16>::write(out.data() + i, value);
    }
  }
}

void run(DType type, ReduceOp op, const std::vector<std::byte*>& sources,
         const std::vector<std::byte*>& destinations, std::size_t count) {
  const std::vector<const void*> in(sources.begin(), sources.end());
  const std::vector<void*> out(destinations.begin(), destinations.end());
  combine({type, op, kDivisor}, in, out, count);
}

// All ways to place destinations: separate (unaligned), on a source, two destinations, on all
// sources.
void expect_combines(DType type, ReduceOp op, const std::vector<Bytes>& inputs, std::size_t count) {
  const Bytes wanted = expected_of(type, op, inputs, count);
  const std::size_t element = size_of(type);
  const std::size_t n = inputs.size();
  for (int way = 0; way < 5; ++way) {
    std::vector<Bytes> copies = inputs;
    std::vector<std::byte*> in;
    for (Bytes& copy : copies) in.push_back(copy.data());
    Bytes apart((count + 2) * element, std::byte{0x5a});
    Bytes second(count * element);
    std::byte* const odd = apart.data() + element;
    const std::vector<std::byte*> out[] = {
        {odd}, {in[0]}, {in[n - 1]}, {second.data(), in[n / 2]}, in};
    run(type, op, in, out[way], count);
    for (const std::byte* got : out[way]) {
      ASSERT_TRUE(same(type, got, wanted)) << name_of(type) << " " << name_of(op) << " of " << n
                                           << " sources, " << count << " elements, way " << way;
    }
    if (way > 1) continue;
    for (std::size_t s = static_cast<std::size_t>(way); s < n; ++s) {
      ASSERT_EQ(copies[s], inputs[s]) << "source " << s << " was written";
    }
    for (std::size_t i = 0; i < element; ++i) {
      ASSERT_EQ(apart[i], std::byte{0x5a}) << "elements before the destination were written";
      ASSERT_EQ(apart[apart.size() - 1 - i], std::byte{0x5a}) << "written behind";
    }
  }
}

class Combine : public ::testing::TestWithParam<DType> {};

TEST_P(Combine, MatchesTheReferenceForEveryTypeCountAndAlias) {
  const DType type = GetParam();
  Random random(20260, static_cast<std::uint64_t>(type));
  for (std::size_t n = 1; n <= kSourcesMax; ++n) {
    for (const std::size_t count : kCounts) {
      std::vector<Bytes> inputs(n, Bytes(count * size_of(type)));
      for (Bytes& input : inputs) fill(random, type, input);
      for (int op = 0; op < kReduceOpCount; ++op) {
        ASSERT_NO_FATAL_FAILURE(expect_combines(type, static_cast<ReduceOp>(op), inputs, count));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, Combine,
                         ::testing::Values(DType::Float64, DType::Float32, DType::Float16,
                                           DType::BFloat16, DType::Int64, DType::Int32, DType::Int8,
                                           DType::UInt8),
                         [](const auto& type) { return std::string(name_of(type.param)); });

}  // namespace
}  // namespace trireme::comm
