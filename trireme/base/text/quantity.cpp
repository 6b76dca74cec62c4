#include "trireme/base/text/quantity.h"

#include <array>
#include <limits>
#include <optional>
#include <span>

#include "trireme/base/error.h"

namespace trireme {
namespace {

__extension__ using Wide = __int128;

struct Unit {
  std::string_view name;
  std::int64_t factor;
};

constexpr std::array<Unit, 8> kTimeUnits{{{"ns", 1},
                                          {"us", 1'000},
                                          {"\xc2\xb5s", 1'000},
                                          {"ms", 1'000'000},
                                          {"s", 1'000'000'000},
                                          {"min", 60'000'000'000},
                                          {"h", 3'600'000'000'000},
                                          {"d", 86'400'000'000'000}}};

constexpr std::array<Unit, 13> kByteUnits{{{"B", 1},
                                           {"KiB", 1LL << 10},
                                           {"MiB", 1LL << 20},
                                           {"GiB", 1LL << 30},
                                           {"TiB", 1LL << 40},
                                           {"K", 1LL << 10},
                                           {"M", 1LL << 20},
                                           {"G", 1LL << 30},
                                           {"T", 1LL << 40},
                                           {"kB", 1'000},
                                           {"MB", 1'000'000},
                                           {"GB", 1'000'000'000},
                                           {"TB", 1'000'000'000'000}}};

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// A decimal number: digits * 10^-places.
struct Decimal {
  Wide digits = 0;
  int places = 0;
};

// Longer numbers are refused, so that the product with a unit's factor cannot overflow.
constexpr int kDigitsMax = 24;

std::optional<Decimal> take_decimal(std::string_view& text) {
  Decimal number;
  int count = 0;
  bool is_fraction = false;
  for (; !text.empty(); text.remove_prefix(1)) {
    const char c = text.front();
    if (c == '.' && !is_fraction && count > 0) {
      is_fraction = true;
    } else if (c >= '0' && c <= '9' && count < kDigitsMax) {
      number.digits = number.digits * 10 + (c - '0');
      number.places += is_fraction ? 1 : 0;
      ++count;
    } else {
      break;
    }
  }
  const bool ends_in_digit = count > 0 && (!is_fraction || number.places > 0);
  return ends_in_digit ? std::optional(number) : std::nullopt;
}

std::optional<std::int64_t> factor_of(std::string_view unit, std::span<const Unit> units) {
  for (const Unit& known : units) {
    if (known.name == unit) return known.factor;
  }
  return std::nullopt;
}

// The value in the smallest unit; nothing if it is not a whole number or exceeds 64 bits.
std::optional<std::int64_t> exact(Decimal number, std::int64_t factor) {
  Wide value = number.digits * factor;
  for (int i = 0; i < number.places; ++i) {
    if (value % 10 != 0) return std::nullopt;
    value /= 10;
  }
  using Limits = std::numeric_limits<std::int64_t>;
  if (value < Limits::min() || value > Limits::max()) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

Error wrong(std::string_view text, std::string_view problem) {
  constexpr std::size_t kShown = 40;
  std::string shown(text.substr(0, kShown));
  if (text.size() > kShown) shown += "...";
  return Error(ErrorCode::InvalidInput, "\"" + shown + "\" " + std::string(problem));
}

}  // namespace

Duration parse_duration(std::string_view text) {
  std::string_view rest = without_blanks(text);
  const bool is_negative = rest.starts_with('-');
  if (is_negative) rest.remove_prefix(1);
  auto number = take_decimal(rest);
  const auto factor = factor_of(without_blanks(rest), kTimeUnits);
  if (!number || !factor) {
    throw wrong(text, "is no duration; write a number and ns, us, ms, s, min, h or d: \"5 s\"");
  }
  if (is_negative) number->digits = -number->digits;
  const auto count = exact(*number, *factor);
  if (!count) throw wrong(text, "is not a whole number of nanoseconds, or too many of them");
  return Duration(*count);
}

std::string to_text(Duration duration) {
  constexpr std::array<Unit, 7> kLargestFirst{{{"d", 86'400'000'000'000},
                                               {"h", 3'600'000'000'000},
                                               {"min", 60'000'000'000},
                                               {"s", 1'000'000'000},
                                               {"ms", 1'000'000},
                                               {"us", 1'000},
                                               {"ns", 1}}};
  if (duration == Duration::zero()) return "0 s";
  for (const Unit& unit : kLargestFirst) {
    if (duration.count() % unit.factor == 0) {
      return std::to_string(duration.count() / unit.factor) + " " + std::string(unit.name);
    }
  }
  return {};  // unreachable: every count is a multiple of 1
}

ByteSize parse_byte_size(std::string_view text) {
  std::string_view rest = without_blanks(text);
  const auto number = take_decimal(rest);
  rest = without_blanks(rest);
  const auto factor = rest.empty() ? std::optional<std::int64_t>(1) : factor_of(rest, kByteUnits);
  if (!number || !factor) {
    throw wrong(text, "is no size; write a number and B, KiB, MiB, GiB or TiB: \"64 MiB\"");
  }
  const auto count = exact(*number, *factor);
  if (!count) throw wrong(text, "is not a whole number of bytes, or too many of them");
  return {static_cast<std::uint64_t>(*count)};
}

std::string to_text(ByteSize size) {
  constexpr std::array<std::string_view, 5> kNames{"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t power = 0;
  while (size.count != 0 && size.count % 1024 == 0 && power + 1 < kNames.size()) {
    size.count /= 1024;
    ++power;
  }
  return std::to_string(size.count) + " " + std::string(kNames[power]);
}

}  // namespace trireme
