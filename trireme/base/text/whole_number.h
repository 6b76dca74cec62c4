// whole_number() reads an integer from untrusted JSON. The JSON library would convert 1e300 to an
// integer, which is undefined behaviour in C++, and -1 to a large size; this function refuses both.
//
//   whole_number<std::uint64_t>(json.at("size"))      throws Corrupt unless it fits
//   whole_number<int>(json.at("id"), "vocab.json")    the same, with the file in the error

#pragma once

#include <concepts>
#include <limits>
#include <string>
#include <vector>

#include "trireme/base/error.h"

namespace trireme {

template <std::integral Number, class Json>
Number whole_number(const Json& json, const std::string& file = {}) {
  const auto refuse = [&] {
    return Error(ErrorCode::Corrupt,
                 (file.empty() ? "" : file + ": ") + json.dump() + " is no such number");
  };
  if (json.is_number_unsigned()) {  // the library's name for every non-negative integer
    const auto value = json.template get<std::uint64_t>();
    if (value > static_cast<std::uint64_t>(std::numeric_limits<Number>::max())) throw refuse();
    return static_cast<Number>(value);
  }
  if (!json.is_number_integer()) throw refuse();
  const auto value = json.template get<std::int64_t>();
  if (value < 0 && (std::unsigned_integral<Number> ||
                    value < static_cast<std::int64_t>(std::numeric_limits<Number>::min()))) {
    throw refuse();
  }
  return static_cast<Number>(value);
}

template <std::integral Number, class Json>
std::vector<Number> whole_numbers(const Json& json) {
  if (!json.is_array()) throw Error(ErrorCode::Corrupt, json.dump() + " is no list");
  std::vector<Number> numbers;
  for (const Json& each : json) numbers.push_back(whole_number<Number>(each));
  return numbers;
}

}  // namespace trireme
