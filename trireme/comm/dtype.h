// DType is the element type of data sent between ranks. trireme/comm/torch/tensor.h maps torch's
// types to these; no other file in comm/ depends on torch.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace trireme::comm {

enum class DType : std::uint8_t {
  Float64,
  Float32,
  Float16,
  BFloat16,
  Int64,
  Int32,
  Int8,
  UInt8,
};

inline constexpr int kDTypeCount = 8;

constexpr std::size_t size_of(DType type) noexcept {
  switch (type) {
    case DType::Float64:
    case DType::Int64:
      return 8;
    case DType::Float32:
    case DType::Int32:
      return 4;
    case DType::Float16:
    case DType::BFloat16:
      return 2;
    case DType::Int8:
    case DType::UInt8:
      return 1;
  }
  return 0;
}

// 16-bit floats are summed in float32 and rounded once, so partial sums are not sent as 16 bits.
constexpr bool is_half(DType type) noexcept {
  return type == DType::Float16 || type == DType::BFloat16;
}

constexpr std::string_view name_of(DType type) noexcept {
  switch (type) {
    case DType::Float64:
      return "float64";
    case DType::Float32:
      return "float32";
    case DType::Float16:
      return "float16";
    case DType::BFloat16:
      return "bfloat16";
    case DType::Int64:
      return "int64";
    case DType::Int32:
      return "int32";
    case DType::Int8:
      return "int8";
    case DType::UInt8:
      return "uint8";
  }
  return "?";
}

enum class ReduceOp : std::uint8_t { Sum, Mean, Min, Max, Product };

inline constexpr int kReduceOpCount = 5;

constexpr std::string_view name_of(ReduceOp op) noexcept {
  switch (op) {
    case ReduceOp::Sum:
      return "sum";
    case ReduceOp::Mean:
      return "mean";
    case ReduceOp::Min:
      return "min";
    case ReduceOp::Max:
      return "max";
    case ReduceOp::Product:
      return "product";
  }
  return "?";
}

}  // namespace trireme::comm
