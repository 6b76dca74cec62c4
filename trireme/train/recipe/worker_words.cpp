#include "trireme/train/recipe/worker_words.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <optional>
#include <span>
#include <sstream>
#include <string_view>

#include "trireme/base/error.h"

namespace trireme::train {
namespace {

constexpr std::array<std::string_view, 4> kFlags = {"--resume", "--json", "--force", "--save"};
constexpr std::array<std::string_view, 23> kOptions = {
    "--recipe",    "--output",   "--set",           "--checkpoint", "--file",  "--prompt",
    "--count",     "--seed",     "--temperature",   "--top-k",      "--top-p", "--with",
    "--snapshots", "--ensemble", "--against",       "--bleu",       "--to",    "--only",
    "--input",     "--format",   "--allow-changes", "--ranks",      "--hosts"};

bool contains(std::span<const std::string_view> all, std::string_view word) {
  return std::find(all.begin(), all.end(), word) != all.end();
}

template <class Number>
std::optional<Number> whole_text_as(const std::string& text) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return value;
}

}  // namespace

WorkerWords::WorkerWords(const std::vector<std::string>& words) {
  if (!words.empty()) command_ = words[0];
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (contains(kFlags, word)) {
      values_[word] = "";
      continue;
    }
    if (!contains(kOptions, word)) throw Error(ErrorCode::InvalidInput, "unknown argument " + word);
    // The next argument is the value, unless it is one of our options: a prompt may begin with
    // dashes.
    ++i;
    if (i == words.size() || contains(kFlags, words[i]) || contains(kOptions, words[i])) {
      throw Error(ErrorCode::InvalidInput, word + " requires a value");
    }
    if (word == "--set") {
      overrides_.push_back(words[i]);
    } else {
      values_[word] = words[i];
    }
  }
}

std::string WorkerWords::text(const std::string& option) const {
  const auto found = values_.find(option);
  if (found == values_.end() || found->second.empty()) {
    throw Error(ErrorCode::InvalidInput, option + " is missing");
  }
  return found->second;
}

std::string WorkerWords::text(const std::string& option, const std::string& otherwise) const {
  const auto found = values_.find(option);
  return found == values_.end() ? otherwise : found->second;
}

double WorkerWords::number(const std::string& option, double otherwise, double least,
                           double most) const {
  const auto found = values_.find(option);
  if (found == values_.end()) return otherwise;
  const auto value = whole_text_as<double>(found->second);
  // This form of the condition also rejects NaN.
  if (value && *value >= least && *value <= most) return *value;
  char range[64];
  std::snprintf(range, sizeof(range), "a number from %g to %g", least, most);
  throw Error(ErrorCode::InvalidInput, option + " " + found->second + ": not " + range);
}

std::int64_t WorkerWords::integer(const std::string& option, std::int64_t otherwise,
                                  std::int64_t least) const {
  const auto found = values_.find(option);
  if (found == values_.end()) return otherwise;
  const auto value = whole_text_as<std::int64_t>(found->second);
  if (value && *value >= least) return *value;
  throw Error(ErrorCode::InvalidInput, option + " " + found->second +
                                           ": not an integer of at least " + std::to_string(least));
}

std::vector<std::string> WorkerWords::list(const std::string& option) const {
  std::istringstream all(has(option) ? text(option) : "");
  std::vector<std::string> parts;
  for (std::string part; std::getline(all, part, ',');) parts.push_back(part);
  return parts;
}

}  // namespace trireme::train
