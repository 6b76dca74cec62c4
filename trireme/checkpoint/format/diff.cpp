#include "trireme/checkpoint/format/diff.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

namespace trireme::checkpoint::format {
namespace {

// Bytes compared per read. Every read that wants a part of a chunk reads all of it, so one read
// wants a whole chunk of each of 16 boxes of columns.
constexpr std::uint64_t kStretch = 16 * kChunkSize;

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// Decodes a small float: sign, exponent, fraction. A format without infinities uses the highest
// exponent for ordinary numbers and reserves only the all-ones pattern for NaN.
double small_float(unsigned bits, int exponent_bits, int fraction_bits, bool has_infinity) {
  const int fraction = static_cast<int>(bits & ((1u << fraction_bits) - 1));
  const int exponent = static_cast<int>((bits >> fraction_bits) & ((1u << exponent_bits) - 1));
  const double sign = ((bits >> (exponent_bits + fraction_bits)) & 1u) != 0 ? -1 : 1;
  const int top = (1 << exponent_bits) - 1, bias = (1 << (exponent_bits - 1)) - 1;
  const bool is_nan =
      exponent == top && (has_infinity ? fraction != 0 : fraction == (1 << fraction_bits) - 1);
  if (is_nan) return std::numeric_limits<double>::quiet_NaN();
  if (exponent == top && has_infinity) return sign * std::numeric_limits<double>::infinity();
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign * std::ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits);
}

double number_at(const std::byte* at, StoredDType dtype) {
  switch (dtype) {
    case StoredDType::Bool:
    case StoredDType::U8:
      return load<std::uint8_t>(at);
    case StoredDType::I8:
      return load<std::int8_t>(at);
    case StoredDType::I16:
      return load<std::int16_t>(at);
    case StoredDType::I32:
      return load<std::int32_t>(at);
    case StoredDType::I64:
      return static_cast<double>(load<std::int64_t>(at));
    case StoredDType::U16:
      return load<std::uint16_t>(at);
    case StoredDType::U32:
      return load<std::uint32_t>(at);
    case StoredDType::U64:
      return static_cast<double>(load<std::uint64_t>(at));
    case StoredDType::F16:
      return small_float(load<std::uint16_t>(at), 5, 10, true);
    case StoredDType::BF16:
      return std::bit_cast<float>(static_cast<std::uint32_t>(load<std::uint16_t>(at)) << 16);
    case StoredDType::F32:
      return load<float>(at);
    case StoredDType::F64:
      return load<double>(at);
    case StoredDType::F8E4M3:
      return small_float(load<std::uint8_t>(at), 4, 3, false);
    case StoredDType::F8E5M2:
      return small_float(load<std::uint8_t>(at), 5, 2, true);
  }
  return 0;
}

// Orders NaN above every number.
bool is_farther(double distance, double than) {
  return !std::isnan(than) && (std::isnan(distance) || distance > than);
}

void compare_stretch(const StoredTensor& tensor, const Bytes& a, const Bytes& b, std::int64_t begin,
                     std::int64_t count, Difference& found) {
  const std::size_t element = size_of(tensor.dtype);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::size_t at = static_cast<std::size_t>(i) * element;
    if (std::memcmp(a.data() + at, b.data() + at, element) == 0) continue;
    const double distance =
        std::abs(number_at(a.data() + at, tensor.dtype) - number_at(b.data() + at, tensor.dtype));
    if (found.count == 0 || is_farther(distance, found.largest)) {
      found.largest = distance;
      found.largest_index = begin + i;
    }
    ++found.count;
  }
}

Difference compare(const Reader& a, const Reader& b, const std::string& name) {
  Difference found{.name = name};
  const StoredTensor* left = a.manifest().find(name);
  const StoredTensor* right = b.manifest().find(name);
  if (left == nullptr || right == nullptr) {
    found.what = left != nullptr ? "only in the first" : "only in the second";
    return found;
  }
  if (left->dtype != right->dtype || left->sizes() != right->sizes()) {
    found.what = form_text(*left) + " and " + form_text(*right);
    return found;
  }
  const std::int64_t total = left->count();
  const auto stretch = std::min(total, static_cast<std::int64_t>(kStretch / size_of(left->dtype)));
  const std::size_t size = static_cast<std::size_t>(stretch) * size_of(left->dtype);
  Bytes left_bytes(size), right_bytes(size);
  for (std::int64_t begin = 0; begin < total; begin += stretch) {
    const std::int64_t count = std::min(stretch, total - begin);
    a.read(*left, begin, count, left_bytes.data());
    b.read(*right, begin, count, right_bytes.data());
    compare_stretch(*left, left_bytes, right_bytes, begin, count, found);
  }
  return found;
}

}  // namespace

std::string form_text(const StoredTensor& tensor) {
  return std::string(name_of(tensor.dtype)) + " " + mesh::text_of(tensor.sizes());
}

std::vector<Difference> differences(const Reader& a, const Reader& b) {
  std::set<std::string> names;
  for (const Reader* reader : {&a, &b}) {
    for (const StoredTensor& tensor : reader->manifest().tensors) names.insert(tensor.name);
  }
  std::vector<Difference> all;
  for (const std::string& name : names) {
    Difference found = compare(a, b, name);
    if (!found.what.empty() || found.count > 0) all.push_back(std::move(found));
  }
  return all;
}

}  // namespace trireme::checkpoint::format
