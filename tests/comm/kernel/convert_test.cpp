// Goal:   arrays of 16-bit floats are converted element by element, and nothing outside the array
//         is written.
// Method: arrays of 0, 1, prime and boundary lengths inside guarded buffers, compared with half.h.

#include "trireme/comm/kernel/convert.h"

#include <gtest/gtest.h>

#include <bit>
#include <vector>

#include "trireme/comm/kernel/half.h"

namespace trireme::comm {
namespace {

constexpr std::size_t kCounts[] = {0, 1, 3, 7, 8, 9, 511, 512, 513, 4097};

TEST(Convert, RunsWidenElementByElement) {
  for (const DType type : {DType::Float16, DType::BFloat16}) {
    for (const std::size_t count : kCounts) {
      std::vector<std::uint16_t> in(count);
      for (std::size_t i = 0; i < count; ++i) in[i] = static_cast<std::uint16_t>(i * 31);
      std::vector<float> out(count + 2, -7.0f);
      widen(type, in.data(), out.data() + 1, count);
      for (std::size_t i = 0; i < count; ++i) {
        const float expected = type == DType::Float16 ? widen_half(in[i]) : widen_bfloat16(in[i]);
        ASSERT_EQ(std::bit_cast<std::uint32_t>(out[i + 1]), std::bit_cast<std::uint32_t>(expected));
      }
      EXPECT_EQ(out.front(), -7.0f);
      EXPECT_EQ(out.back(), -7.0f);
    }
  }
}

TEST(Convert, RunsNarrowElementByElement) {
  for (const DType type : {DType::Float16, DType::BFloat16}) {
    for (const std::size_t count : kCounts) {
      std::vector<float> in(count);
      for (std::size_t i = 0; i < count; ++i) {
        in[i] = (static_cast<float>(i) - 100.3f) * 1.0009765f;
      }
      std::vector<std::uint16_t> out(count + 2, 0xabcd);
      narrow(type, in.data(), out.data() + 1, count);
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(out[i + 1], type == DType::Float16 ? narrow_half(in[i]) : narrow_bfloat16(in[i]));
      }
      EXPECT_EQ(out.front(), 0xabcd);
      EXPECT_EQ(out.back(), 0xabcd);
    }
  }
}

}  // namespace
}  // namespace trireme::comm
