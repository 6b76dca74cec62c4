// FieldType defines the name, parsing and formatting of settings for each supported C++ type:
//
//   bool, integers, float and double, std::string, TextOrNumber, std::filesystem::path,
//   std::chrono durations ("5 s"), ByteSize ("64 MiB"), enums with named values,
//   std::vector of these, std::optional of these.
//
// Authors of parts do not use FieldType directly: Fields<T>::add selects it by the member's type.
//
// Thread safety: pure functions; any thread may call them.
// Errors:        read() throws InvalidInput with a message that says what is expected.

#pragma once

#include <chrono>
#include <concepts>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "trireme/base/check.h"
#include "trireme/base/config/override.h"
#include "trireme/base/config/read_value.h"
#include "trireme/base/config/rules.h"
#include "trireme/base/config/value.h"
#include "trireme/base/text/byte_size.h"
#include "trireme/base/text/quantity.h"

namespace trireme::config {

// Text that a file may also state as a number without quotation marks: missing = 0.
struct TextOrNumber : std::string {
  using std::string::string;
  TextOrNumber(std::string text) : std::string(std::move(text)) {}  // NOLINT: stands for text
};

// Element is the type to which the rules apply.
template <class Member>
struct FieldType;

template <>
struct FieldType<bool> {
  using Element = bool;
  static constexpr Shape kShape{};
  static std::string name(const Rules<bool>&) { return "boolean"; }
  static bool read(const Value& value, const Rules<bool>&) { return read_bool(value); }
  static Value write(bool member, const Rules<bool>&) { return {member}; }
};

// TOML integers are signed 64-bit numbers, so an unsigned 64-bit setting ends at 2^63 - 1.
template <std::integral Member>
struct FieldType<Member> {
  using Element = Member;
  static constexpr Shape kShape{};
  static std::string name(const Rules<Member>&) { return "integer"; }
  static Member read(const Value& value, const Rules<Member>& rules) {
    const std::int64_t wide = read_integer(value);
    using Limits = std::numeric_limits<Member>;
    if (std::cmp_less(wide, rules.least.value_or(Limits::min()))) {
      refuse_less(value, {static_cast<std::int64_t>(rules.least.value_or(Limits::min()))});
    }
    if (std::cmp_greater(wide, rules.most.value_or(Limits::max()))) {
      refuse_more(value, {static_cast<std::int64_t>(rules.most.value_or(Limits::max()))});
    }
    return static_cast<Member>(wide);
  }
  static Value write(Member member, const Rules<Member>&) {
    TRIREME_CHECK(std::in_range<std::int64_t>(member), "TOML has no integer ", member);
    return {static_cast<std::int64_t>(member)};
  }
};

template <std::floating_point Member>
struct FieldType<Member> {
  using Element = Member;
  static constexpr Shape kShape{};
  static std::string name(const Rules<Member>&) { return "number"; }
  static Member read(const Value& value, const Rules<Member>& rules) {
    const Member number = read_as(value);
    check_range(value, number, rules);
    return number;
  }
  static Value write(Member member, const Rules<Member>&) {
    if constexpr (std::is_same_v<Member, float>) return {shortest_as_double(member)};
    return {static_cast<double>(member)};
  }
  static Member read_as(const Value& value) {
    if constexpr (std::is_same_v<Member, float>) return read_float(value);
    return read_number(value);
  }
};

template <class Member>
  requires std::is_same_v<Member, std::string> || std::is_same_v<Member, std::filesystem::path>
struct FieldType<Member> {
  using Element = Member;
  static constexpr Shape kShape{.is_text = true};
  static std::string name(const Rules<Member>&) {
    return std::is_same_v<Member, std::string> ? "text" : "path";
  }
  static Member read(const Value& value, const Rules<Member>&) { return read_text(value); }
  static Value write(const Member& member, const Rules<Member>&) { return {std::string(member)}; }
};

template <>
struct FieldType<TextOrNumber> {
  using Element = TextOrNumber;
  static constexpr Shape kShape{.is_text = true};
  static std::string name(const Rules<TextOrNumber>&) { return "text or number"; }
  static TextOrNumber read(const Value& value, const Rules<TextOrNumber>&) {
    return read_text_or_number(value);
  }
  static Value write(const TextOrNumber& member, const Rules<TextOrNumber>&) {
    return {std::string(member)};
  }
};

// Negative durations are refused unless the range allows them.
template <class Rep, class Period>
struct FieldType<std::chrono::duration<Rep, Period>> {
  using Element = std::chrono::duration<Rep, Period>;
  static constexpr Shape kShape{.is_text = true};
  static std::string name(const Rules<Element>&) { return "duration"; }
  static Element read(const Value& value, const Rules<Element>& rules) {
    const Duration exact = read_duration(value);
    const auto member = std::chrono::duration_cast<Element>(exact);
    if (member != exact) refuse(value, "is finer than the setting, which counts " + step());
    if (!rules.least && member < Element::zero()) refuse_less(value, {to_text(Duration(0))});
    check_range(value, member, rules);
    return member;
  }
  static Value write(Element member, const Rules<Element>&) { return {to_text(Duration(member))}; }
  static std::string step() { return to_text(Duration(Element(1))); }
};

template <>
struct FieldType<ByteSize> {
  using Element = ByteSize;
  static constexpr Shape kShape{.is_text = true};
  static std::string name(const Rules<ByteSize>&) { return "byte size"; }
  static ByteSize read(const Value& value, const Rules<ByteSize>& rules) {
    const ByteSize size = read_byte_size(value);
    check_range(value, size, rules);
    return size;
  }
  static Value write(ByteSize member, const Rules<ByteSize>&) { return {to_text(member)}; }
};

template <class Member>
  requires std::is_enum_v<Member>
struct FieldType<Member> {
  using Element = Member;
  static constexpr Shape kShape{.is_text = true};
  static std::string name(const Rules<Member>& rules) { return "one of " + rules.list_names(); }
  static Member read(const Value& value, const Rules<Member>& rules) {
    return rules.names[read_name(value, rules.only_names())].second;
  }
  static Value write(Member member, const Rules<Member>& rules) { return {rules.name_of(member)}; }
};

template <class Item>
struct FieldType<std::vector<Item>> {
  using Element = typename FieldType<Item>::Element;
  static constexpr Shape kShape{.is_text = FieldType<Item>::kShape.is_text, .is_list = true};
  static std::string name(const Rules<Element>& rules) {
    return "list of " + FieldType<Item>::name(rules);
  }
  static std::vector<Item> read(const Value& value, const Rules<Element>& rules) {
    std::vector<Item> items;
    for (const Value& item : read_list(value)) items.push_back(FieldType<Item>::read(item, rules));
    return items;
  }
  static Value write(const std::vector<Item>& member, const Rules<Element>& rules) {
    List items;
    for (const Item& item : member) items.push_back(FieldType<Item>::write(item, rules));
    return {std::move(items)};
  }
};

template <class Item>
struct FieldType<std::optional<Item>> {
  using Element = typename FieldType<Item>::Element;
  static constexpr Shape kShape = FieldType<Item>::kShape;
  static std::string name(const Rules<Element>& rules) {
    return "optional " + FieldType<Item>::name(rules);
  }
  static std::optional<Item> read(const Value& value, const Rules<Element>& rules) {
    if (std::holds_alternative<std::monostate>(value.content)) return std::nullopt;
    return FieldType<Item>::read(value, rules);
  }
  static Value write(const std::optional<Item>& member, const Rules<Element>& rules) {
    return member ? FieldType<Item>::write(*member, rules) : Value{};
  }
};

}  // namespace trireme::config
