#include "trireme/cli/grace_option.h"

#include <charconv>
#include <chrono>
#include <system_error>

namespace trireme::cli {
namespace {

constexpr double kGraceMax = 86400;

}  // namespace

std::string set_grace(Duration& grace, const std::string& text) {
  double seconds = -1;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, seconds);
  if (read.ec != std::errc() || read.ptr != end || !(seconds >= 0 && seconds <= kGraceMax)) {
    return "--grace " + text + ": a number of seconds from 0 to 86400";
  }
  grace = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
  return {};
}

}  // namespace trireme::cli
