#include "trireme/optim/groups.h"

#include <charconv>
#include <cmath>
#include <optional>

#include "trireme/base/error.h"

namespace trireme::optim {
namespace {

std::optional<std::pair<std::string, double>> read_factor(const std::string& text) {
  const std::size_t at = text.rfind('=');
  if (at == std::string::npos || at == 0) return std::nullopt;
  double factor = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + at + 1, end, factor);
  if (error != std::errc() || stop != end || !std::isfinite(factor) || factor < 0) {
    return std::nullopt;
  }
  return std::pair{text.substr(0, at), factor};
}

}  // namespace

bool is_match(std::string_view pattern, std::string_view name) noexcept {
  // On a mismatch, continue at the last star, which then matches one more character.
  std::size_t p = 0, n = 0, star = std::string_view::npos, taken = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++taken;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::string complaint_of_factors(const std::vector<std::string>& all) {
  for (const std::string& text : all) {
    if (!read_factor(text)) return "\"" + text + "\" is no \"pattern=factor\"";
  }
  return {};
}

Groups::Groups(const OptimConfig& config)
    : is_all_decayed_(config.decay_all), no_decay_(config.no_decay) {
  const std::string complaint = complaint_of_factors(config.lr_factors);
  if (!complaint.empty()) throw Error(ErrorCode::InvalidInput, complaint);
  for (const std::string& text : config.lr_factors) factors_.push_back(*read_factor(text));
}

ParamGroup Groups::group_of(std::string_view name, std::int64_t dims) const {
  ParamGroup group{.lr_factor = 1, .is_decayed = is_all_decayed_ || dims >= 2};
  for (const std::string& pattern : no_decay_) {
    if (is_match(pattern, name)) group.is_decayed = false;
  }
  for (const auto& [pattern, factor] : factors_) {
    if (is_match(pattern, name)) group.lr_factor = factor;
  }
  return group;
}

}  // namespace trireme::optim
