// Goal:   a span has the correct address, count and type, and its parts have the correct addresses.
// Method: views of containers of every plain type; parts are compared with pointer arithmetic.

#include "trireme/comm/span.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace trireme::comm {
namespace {

template <class T>
void expect_view(DType type) {
  std::vector<T> values(7);
  const Span view = span(values);
  EXPECT_EQ(view.data, values.data());
  EXPECT_EQ(view.count, 7u);
  EXPECT_EQ(view.type, type);
  EXPECT_EQ(view.size(), 7 * sizeof(T));
  EXPECT_EQ(view.device, Device{});
  const ConstSpan readable = const_span(values);
  EXPECT_EQ(readable.data, values.data());
  EXPECT_EQ(readable.type, type);
}

TEST(Span, ViewsContainersOfEveryPlainType) {
  expect_view<double>(DType::Float64);
  expect_view<float>(DType::Float32);
  expect_view<std::int64_t>(DType::Int64);
  expect_view<std::int32_t>(DType::Int32);
  expect_view<std::int8_t>(DType::Int8);
  expect_view<std::uint8_t>(DType::UInt8);
}

TEST(Span, ViewsArraysAndEmptyContainers) {
  std::array<float, 3> three{};
  EXPECT_EQ(span(three).count, 3u);
  std::vector<float> none;
  EXPECT_TRUE(span(none).is_empty());
  EXPECT_EQ(span(none).size(), 0u);
  EXPECT_TRUE(Span().is_empty());
  EXPECT_TRUE(ConstSpan().is_empty());
}

TEST(Span, PartsAreCountedInElements) {
  std::vector<std::int64_t> values(10);
  const Span part = span(values).part(3, 4);
  EXPECT_EQ(part.data, values.data() + 3);
  EXPECT_EQ(part.count, 4u);
  EXPECT_EQ(part.type, DType::Int64);
  EXPECT_EQ(part.part(4, 0).data, values.data() + 7);

  std::vector<std::uint16_t> halves(10);
  const ConstSpan all(halves.data(), halves.size(), DType::BFloat16);
  const ConstSpan tail = all.part(9, 1);
  EXPECT_EQ(tail.data, halves.data() + 9);
  EXPECT_EQ(tail.size(), 2u);
  EXPECT_EQ(tail.type, DType::BFloat16);
}

TEST(Span, EverySpanIsReadable) {
  std::vector<float> values(2);
  Span writable = span(values);
  writable.device = Device::cuda(1);
  const ConstSpan readable = writable;
  EXPECT_EQ(readable.data, values.data());
  EXPECT_EQ(readable.count, 2u);
  EXPECT_EQ(readable.device, Device::cuda(1));
}

}  // namespace
}  // namespace trireme::comm
