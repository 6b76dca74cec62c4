#include "trireme/train/worker_words.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <string_view>

#include "trireme/base/error.h"

namespace trireme::train {
namespace {

constexpr std::array<std::string_view, 2> kFlags = {"--resume", "--json"};
constexpr std::array<std::string_view, 10> kOptions = {
    "--recipe", "--output", "--set",         "--checkpoint", "--prompt",
    "--count",  "--seed",   "--temperature", "--top-k",      "--top-p"};

bool contains(std::span<const std::string_view> all, std::string_view word) {
  return std::find(all.begin(), all.end(), word) != all.end();
}

}  // namespace

WorkerWords::WorkerWords(int argc, char** argv) {
  if (argc > 1) command_ = argv[1];
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    if (contains(kFlags, word)) {
      values_[word] = "";
      continue;
    }
    if (!contains(kOptions, word)) throw Error(ErrorCode::InvalidInput, "unknown word " + word);
    // A value is whatever comes next but a word of ours: a prompt may begin with dashes.
    if (i + 1 == argc || contains(kFlags, argv[i + 1]) || contains(kOptions, argv[i + 1])) {
      throw Error(ErrorCode::InvalidInput, word + " lacks its value");
    }
    if (word == "--set") {
      overrides_.emplace_back(argv[++i]);
    } else {
      values_[word] = argv[++i];
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

double WorkerWords::number(const std::string& option, double otherwise) const {
  const auto found = values_.find(option);
  if (found == values_.end()) return otherwise;
  double value = 0;
  const char* end = found->second.data() + found->second.size();
  const auto read = std::from_chars(found->second.data(), end, value);
  if (read.ec != std::errc() || read.ptr != end) {
    throw Error(ErrorCode::InvalidInput, option + " " + found->second + ": no number");
  }
  return value;
}

}  // namespace trireme::train
