// Setters shared by the options of all benchmarks: one of several names, a number in a range, and
// any value that a function parses.
//
// Errors:   a setter returns what is wrong with a value, as Command requires, and then does not
//           change its target.
// Lifetime: targets must outlive the setters.

#pragma once

#include <fmt/format.h>

#include <charconv>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "trireme/cli/command.h"

namespace trireme::cli {

std::string joined(const std::vector<std::string>& names, std::string_view separator);

Setter one_of(std::string option, std::vector<std::string> names, std::string& target);

template <class Number>
struct NumberRange {
  Number least;
  Number most;
};

template <class Number>
Setter number(std::string option, NumberRange<Number> range, Number& target) {
  return [option = std::move(option), range, &target](const std::string& text) {
    const char* end = text.data() + text.size();
    Number value{};
    const auto read = std::from_chars(text.data(), end, value);
    if (read.ec == std::errc() && read.ptr == end && value >= range.least && value <= range.most) {
      target = value;
      return std::string();
    }
    return fmt::format("{} {}: a number from {} to {}", option, text, range.least, range.most);
  };
}

// An Error that `read` throws is returned as the mistake.
Setter checked(std::string option, std::function<void(const std::string&)> read);

}  // namespace trireme::cli
