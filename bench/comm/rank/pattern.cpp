#include "bench/comm/rank/pattern.h"

#include <algorithm>
#include <array>

#include "trireme/comm/kernel/half.h"

namespace trireme::bench {
namespace {

using comm::DType;

// Calls `body` with two functions that convert integers to the type and the type to double.
template <class Body>
void with_type(DType type, const Body& body) {
  const auto plain = [&]<class T>(T) {
    body([](int value) { return static_cast<T>(value); },
         [](T value) { return static_cast<double>(value); });
  };
  switch (type) {
    case DType::Float64:
      return plain(double{});
    case DType::Float32:
      return plain(float{});
    case DType::Int64:
      return plain(std::int64_t{});
    case DType::Int32:
      return plain(std::int32_t{});
    case DType::Int8:
      return plain(std::int8_t{});
    case DType::UInt8:
      return plain(std::uint8_t{});
    case DType::Float16:
      return body([](int value) { return comm::narrow_half(static_cast<float>(value)); },
                  [](std::uint16_t bits) { return static_cast<double>(comm::widen_half(bits)); });
    case DType::BFloat16:
      return body(
          [](int value) { return comm::narrow_bfloat16(static_cast<float>(value)); },
          [](std::uint16_t bits) { return static_cast<double>(comm::widen_bfloat16(bits)); });
  }
}

}  // namespace

void fill(comm::Span data, int rank, int ranks) {
  with_type(data.type, [&](const auto& encode, const auto&) {
    auto* values = static_cast<decltype(encode(0))*>(data.data);
    for (std::size_t i = 0; i < data.count; ++i) values[i] = encode(pattern(rank, i, ranks));
  });
}

std::optional<std::string> find_wrong(comm::ConstSpan output, const Expectation& expected,
                                      int ranks) {
  std::optional<std::string> wrong;
  with_type(output.type, [&](const auto& encode, const auto& decode) {
    const auto* values = static_cast<const decltype(encode(0))*>(output.data) + expected.first;
    std::array<int, 1024> sums;
    for (std::size_t begin = 0; begin < expected.count && !wrong; begin += sums.size()) {
      const std::size_t count = std::min(sums.size(), expected.count - begin);
      sums.fill(0);
      for (int source : expected.sources) {
        for (std::size_t i = 0; i < count; ++i) {
          sums[i] += pattern(source, expected.input_first + begin + i, ranks);
        }
      }
      for (std::size_t i = 0; i < count; ++i) {
        if (decode(values[begin + i]) == decode(encode(sums[i]))) continue;
        wrong = "element " + std::to_string(expected.first + begin + i) + " is " +
                std::to_string(decode(values[begin + i])) + " instead of " +
                std::to_string(sums[i]);
        return;
      }
    }
  });
  return wrong;
}

}  // namespace trireme::bench
