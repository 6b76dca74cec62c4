#include "tests/conformance/values.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "trireme/comm/kernel/half.h"

namespace trireme::comm::conformance {
namespace {

template <class T>
void put(T value, void* out) {
  std::memcpy(out, &value, sizeof(value));
}

template <class T>
double get(const void* in) {
  T value;
  std::memcpy(&value, in, sizeof(value));
  return static_cast<double>(value);
}

bool is_integer(DType type) {
  return type == DType::Int64 || type == DType::Int32 || type == DType::Int8 ||
         type == DType::UInt8;
}

// The value as the type stores it: an unsigned -1 is 255.
double held(DType type, double value) {
  std::byte bytes[8];
  encode(type, value, bytes);
  return decode(type, bytes);
}

}  // namespace

void encode(DType type, double value, void* out) {
  const auto whole = static_cast<std::int64_t>(is_integer(type) ? value : 0);
  switch (type) {
    case DType::Float64:
      return put(value, out);
    case DType::Float32:
      return put(static_cast<float>(value), out);
    case DType::Float16:
      return put(narrow_half(static_cast<float>(value)), out);
    case DType::BFloat16:
      return put(narrow_bfloat16(static_cast<float>(value)), out);
    case DType::Int64:
      return put(whole, out);
    case DType::Int32:
      return put(static_cast<std::int32_t>(whole), out);
    case DType::Int8:
      return put(static_cast<std::int8_t>(whole), out);
    case DType::UInt8:
      return put(static_cast<std::uint8_t>(whole), out);
  }
}

double decode(DType type, const void* in) {
  std::uint16_t half = 0;
  if (is_half(type)) std::memcpy(&half, in, sizeof(half));
  switch (type) {
    case DType::Float64:
      return get<double>(in);
    case DType::Float32:
      return get<float>(in);
    case DType::Float16:
      return static_cast<double>(widen_half(half));
    case DType::BFloat16:
      return static_cast<double>(widen_bfloat16(half));
    case DType::Int64:
      return get<std::int64_t>(in);
    case DType::Int32:
      return get<std::int32_t>(in);
    case DType::Int8:
      return get<std::int8_t>(in);
    case DType::UInt8:
      return get<std::uint8_t>(in);
  }
  return 0;
}

double value_of(int salt, int rank, std::size_t index) {
  const auto seed = static_cast<std::size_t>(salt * 7 + rank * 3);
  return static_cast<double>((seed + index * 3 + index / 97) % 5) - 2;
}

double reduced(DType type, ReduceOp op, int salt, int ranks, std::size_t index) {
  double all = held(type, value_of(salt, 0, index));
  for (int rank = 1; rank < ranks; ++rank) {
    const double next = held(type, value_of(salt, rank, index));
    if (op == ReduceOp::Min)
      all = std::min(all, next);
    else if (op == ReduceOp::Max)
      all = std::max(all, next);
    else if (op == ReduceOp::Product)
      all = held(type, all * next);
    else
      all = held(type, all + next);
  }
  if (op != ReduceOp::Mean) return all;
  return is_integer(type) ? std::trunc(all / ranks) : all / ranks;
}

Cycle::Cycle(DType type, const std::function<double(std::size_t)>& value)
    : type_(type), bytes_(2 * kPeriod * size_of(type)) {
  for (std::size_t i = 0; i < 2 * kPeriod; ++i) {
    encode(type, value(i % kPeriod), bytes_.data() + i * size_of(type));
  }
}

Cycle Cycle::input(DType type, int salt, int rank) {
  return Cycle(type, [&](std::size_t index) { return value_of(salt, rank, index); });
}

Cycle Cycle::result(DType type, ReduceOp op, int salt, int ranks) {
  return Cycle(type, [&](std::size_t index) { return reduced(type, op, salt, ranks, index); });
}

void Cycle::write(void* out, std::size_t first, std::size_t count) const {
  auto* to = static_cast<std::byte*>(out);
  const std::size_t element = size_of(type_);
  for (std::size_t done = 0; done < count;) {
    const std::size_t n = std::min(kPeriod, count - done);
    std::memcpy(to + done * element, bytes_.data() + (first + done) % kPeriod * element,
                n * element);
    done += n;
  }
}

std::string Cycle::difference(const void* data, std::size_t first, std::size_t count) const {
  const auto* from = static_cast<const std::byte*>(data);
  const std::size_t element = size_of(type_);
  for (std::size_t done = 0; done < count;) {
    const std::size_t n = std::min(kPeriod, count - done);
    const std::byte* wanted = bytes_.data() + (first + done) % kPeriod * element;
    for (std::size_t i = 0; std::memcmp(from + done * element, wanted, n * element) != 0; ++i) {
      const std::byte* got = from + (done + i) * element;
      if (std::memcmp(got, wanted + i * element, element) == 0) continue;
      return "element " + std::to_string(done + i) + " is " + std::to_string(decode(type_, got)) +
             " instead of " + std::to_string(decode(type_, wanted + i * element));
    }
    done += n;
  }
  return "";
}

}  // namespace trireme::comm::conformance
