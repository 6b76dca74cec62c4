#include "trireme/base/text/shell_word.h"

namespace trireme {
namespace {

constexpr std::string_view kPlain =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";

}  // namespace

std::string shell_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string shell_word(std::string_view word) {
  const bool is_plain = !word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos;
  return is_plain ? std::string(word) : shell_quoted(word);
}

}  // namespace trireme
