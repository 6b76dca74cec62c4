// TRIREME_CHECK tests preconditions on the calling program, in every build type.
//
//   TRIREME_CHECK(rank < size, "rank ", rank, " is outside a group of ", size);
//   TRIREME_CHECK_EQ(out.count, size * piece.count, "all_gather output");
//
// A failed check throws Error with ErrorCode::Misuse, the expression, both values and the source
// location. Use it for programming errors; a wrong file or flag is ErrorCode::InvalidInput.

#pragma once

#include <sstream>
#include <string>

namespace trireme::detail {

[[noreturn]] void check_failed(const char* expression, const std::string& message, const char* file,
                               int line);

template <class... Parts>
std::string concatenate(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

}  // namespace trireme::detail

#define TRIREME_CHECK(condition, ...)                                                          \
  do {                                                                                         \
    if (!(condition)) [[unlikely]] {                                                           \
      ::trireme::detail::check_failed(                                                         \
          #condition, ::trireme::detail::concatenate("" __VA_OPT__(, ) __VA_ARGS__), __FILE__, \
          __LINE__);                                                                           \
    }                                                                                          \
  } while (false)

#define TRIREME_CHECK_EQ(left, right, ...)                                                  \
  do {                                                                                      \
    const auto& trireme_left = (left);                                                      \
    const auto& trireme_right = (right);                                                    \
    if (!(trireme_left == trireme_right)) [[unlikely]] {                                    \
      ::trireme::detail::check_failed(                                                      \
          #left " == " #right,                                                              \
          ::trireme::detail::concatenate("" __VA_OPT__(, ) __VA_ARGS__, " (", trireme_left, \
                                         " against ", trireme_right, ")"),                  \
          __FILE__, __LINE__);                                                              \
    }                                                                                       \
  } while (false)
