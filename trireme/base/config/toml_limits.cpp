#include "trireme/base/config/toml_limits.h"

#include "trireme/base/config/toml_reader.h"

namespace trireme::config {
namespace {

// Scans text, strings and comments by the rules of TOML, and counts brackets and dots.
class Walk {
 public:
  explicit Walk(std::string_view text) : rest_(text) {}

  std::optional<TomlExcess> run() {
    while (!rest_.empty()) {
      if (rest_.front() == '"' || rest_.front() == '\'') {
        skip_string(rest_.front());
      } else if (rest_.front() == '#') {
        take(std::min(rest_.find('\n'), rest_.size()));
      } else {
        count(rest_.front());
        take(1);
      }
      if (depth_ > kTomlDepthMax) return excess("brackets within brackets", kTomlDepthMax);
      if (dots_ > kTomlDotsMax) return excess("dots in one key", kTomlDotsMax);
    }
    return std::nullopt;
  }

 private:
  void count(char c) {
    if (c == '.') {
      ++dots_;
    } else if (c == '[' || c == '{') {
      ++depth_;
      dots_ = 0;
    } else if (c == ']' || c == '}') {
      if (depth_ > 0) --depth_;
      dots_ = 0;
    } else if (c == '=' || c == ',' || c == '\n') {
      dots_ = 0;
    }
  }

  void skip_string(char quote) {
    const std::string three(3, quote);
    const bool is_long = rest_.starts_with(three);
    take(is_long ? 3 : 1);
    while (!rest_.empty()) {
      if (quote == '"' && rest_.front() == '\\' && rest_.size() > 1) {
        take(2);
      } else if (is_long && rest_.starts_with(three)) {
        return take(3);
      } else if (!is_long && (rest_.front() == quote || rest_.front() == '\n')) {
        // A single-line string ends at the end of its line at the latest; a parser stops there.
        return take(rest_.front() == quote ? 1 : 0);
      } else {
        take(1);
      }
    }
  }

  void take(std::size_t size) {
    for (char c : rest_.substr(0, size)) line_ += c == '\n' ? 1 : 0;
    rest_.remove_prefix(size);
  }

  TomlExcess excess(std::string_view what, int most) const {
    return {.line = line_, .what = "more than " + std::to_string(most) + " " + std::string(what)};
  }

  std::string_view rest_;
  int line_ = 1;
  int depth_ = 0;
  int dots_ = 0;
};

}  // namespace

std::optional<TomlExcess> find_toml_excess(std::string_view text) {
  if (text.size() > kTomlSizeMax) {
    return TomlExcess{.line = 0,
                      .what = "more than " + std::to_string(kTomlSizeMax >> 20) + " MiB of text"};
  }
  return Walk(text).run();
}

}  // namespace trireme::config
