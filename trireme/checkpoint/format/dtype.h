// StoredDType is the type of a stored tensor's elements, under the names that safetensors files
// use.
//
// Thread safety: pure functions.

#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace trireme::checkpoint::format {

enum class StoredDType : unsigned char {
  Bool,
  U8,
  I8,
  I16,
  I32,
  I64,
  U16,
  U32,
  U64,
  F16,
  BF16,
  F32,
  F64,
  F8E4M3,
  F8E5M2,
};

namespace detail {

struct DTypeRow {
  std::string_view name;
  std::size_t size;
};

inline constexpr std::array<DTypeRow, 15> kDTypes{{{"BOOL", 1},
                                                   {"U8", 1},
                                                   {"I8", 1},
                                                   {"I16", 2},
                                                   {"I32", 4},
                                                   {"I64", 8},
                                                   {"U16", 2},
                                                   {"U32", 4},
                                                   {"U64", 8},
                                                   {"F16", 2},
                                                   {"BF16", 2},
                                                   {"F32", 4},
                                                   {"F64", 8},
                                                   {"F8_E4M3", 1},
                                                   {"F8_E5M2", 1}}};

}  // namespace detail

constexpr std::string_view name_of(StoredDType dtype) {
  return detail::kDTypes[static_cast<std::size_t>(dtype)].name;
}

// Bytes per element.
constexpr std::size_t size_of(StoredDType dtype) {
  return detail::kDTypes[static_cast<std::size_t>(dtype)].size;
}

constexpr std::optional<StoredDType> dtype_named(std::string_view name) {
  for (std::size_t i = 0; i < detail::kDTypes.size(); ++i) {
    if (detail::kDTypes[i].name == name) return static_cast<StoredDType>(i);
  }
  return std::nullopt;
}

}  // namespace trireme::checkpoint::format
