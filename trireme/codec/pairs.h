// The wire format of sparse codecs: indices in ascending order, 4 bytes each, then the values at
// these indices.
//
// Thread safety: pure functions; any thread may call them.
// Errors:        Corrupt if the size is not a multiple of a pair or an index is out of range.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "trireme/base/bytes.h"
#include "trireme/base/error.h"
#include "trireme/codec/coded_size.h"

namespace trireme::codec {

inline constexpr std::size_t kPairSize = 8;

// Fills `out`, which has room for `count` pairs.
class PairWriter {
 public:
  PairWriter(std::span<std::byte> out, std::size_t count)
      : places_(out.data()), values_(out.data() + count * sizeof(std::uint32_t)) {}

  void put(std::size_t place, float value) noexcept {
    const auto narrow = static_cast<std::uint32_t>(place);
    std::memcpy(places_ + count_ * sizeof(narrow), &narrow, sizeof(narrow));
    std::memcpy(values_ + count_ * sizeof(value), &value, sizeof(value));
    ++count_;
  }
  std::size_t count() const noexcept { return count_; }

 private:
  std::byte* places_;
  std::byte* values_;
  std::size_t count_ = 0;
};

inline void add_pairs(ByteView coded, std::span<float> sum) {
  if (coded.size() % kPairSize != 0) {
    throw Error(ErrorCode::Corrupt, "a place without a value among encoded bytes");
  }
  const std::size_t count = coded.size() / kPairSize;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t place = 0;
    float value = 0;
    std::memcpy(&place, coded.data() + i * sizeof(place), sizeof(place));
    std::memcpy(&value, coded.data() + (count + i) * sizeof(value), sizeof(value));
    if (place >= sum.size()) {
      throw Error(ErrorCode::Corrupt, "place " + std::to_string(place) + " of " +
                                          std::to_string(sum.size()) + " values was encoded");
    }
    sum[place] += value;
  }
}

// For codecs that send all values if pairs would take at least the same number of bytes.
inline void add_pairs_or_all(ByteView coded, std::span<float> sum) {
  const std::size_t whole = sum.size() * sizeof(float);
  if (coded.size() > whole) expect_size(coded, whole);
  if (coded.size() < whole) return add_pairs(coded, sum);
  for (std::size_t i = 0; i < sum.size(); ++i) {
    float value = 0;
    std::memcpy(&value, coded.data() + i * sizeof(value), sizeof(value));
    sum[i] += value;
  }
}

}  // namespace trireme::codec
