#include "trireme/train/worker_words.h"

#include <charconv>

#include "trireme/base/error.h"

namespace trireme::train {

WorkerWords::WorkerWords(int argc, char** argv) {
  if (argc > 1) command_ = argv[1];
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    const bool is_last = i + 1 == argc;
    if (!word.starts_with("--")) {
      throw Error(ErrorCode::InvalidInput, "unexpected argument " + word);
    }
    if (is_last || std::string(argv[i + 1]).starts_with("--")) {
      values_[word] = "";
    } else if (word == "--set") {
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
