#include "trireme/checkpoint/scalar_type.h"

#include <array>
#include <string>

#include "trireme/base/error.h"

namespace trireme::checkpoint {
namespace {

// In the order of format::StoredDType.
constexpr std::array<at::ScalarType, 15> kScalarTypes{
    at::kBool,     at::kByte,   at::kChar,   at::kShort,         at::kInt,
    at::kLong,     at::kUInt16, at::kUInt32, at::kUInt64,        at::kHalf,
    at::kBFloat16, at::kFloat,  at::kDouble, at::kFloat8_e4m3fn, at::kFloat8_e5m2};

}  // namespace

format::StoredDType to_dtype(at::ScalarType type) {
  for (std::size_t i = 0; i < kScalarTypes.size(); ++i) {
    if (kScalarTypes[i] == type) return static_cast<format::StoredDType>(i);
  }
  throw Error(ErrorCode::Unsupported,
              std::string("elements of type ") + c10::toString(type) + " cannot be saved");
}

at::ScalarType to_scalar_type(format::StoredDType dtype) {
  return kScalarTypes.at(static_cast<std::size_t>(dtype));
}

}  // namespace trireme::checkpoint
