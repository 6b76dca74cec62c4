#include "trireme/base/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace trireme {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

// 0: not set, or not a positive number.
int columns_set() {
  const std::string_view text = variable("COLUMNS");
  int columns = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), columns);
  return read.ec == std::errc() && read.ptr == text.data() + text.size() ? std::max(columns, 0) : 0;
}

int columns_of(int descriptor) {
  winsize size{};
  return ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace

Terminal terminal_at(int descriptor) {
  const std::string_view kind = variable("TERM");
  const bool is_terminal = ::isatty(descriptor) == 1 && !kind.empty() && kind != "dumb";
  const int real = columns_of(descriptor);
  const int wanted = columns_set();
  // A view wider than the terminal would wrap, and could not be redrawn.
  const int width = real > 0 && wanted > 0 ? std::min(real, wanted) : std::max(real, wanted);
  return {.is_terminal = is_terminal,
          .has_color = is_terminal && variable("NO_COLOR").empty(),
          .width = width > 0 ? width : kWidthUnknown};
}

}  // namespace trireme
