#include "trireme/train/evaluate/bleu.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "trireme/base/check.h"

namespace trireme::train {
namespace {

using Runs = std::map<Sentence, std::int64_t>;

Runs runs_of(const Sentence& words, std::size_t length) {
  Runs all;
  for (std::size_t i = 0; i + length <= words.size(); ++i) {
    const auto first = words.begin() + static_cast<std::ptrdiff_t>(i);
    ++all[Sentence(first, first + static_cast<std::ptrdiff_t>(length))];
  }
  return all;
}

// How often each n-gram occurs in the reference that contains it most often.
Runs most_of(std::span<const Sentence> references, std::size_t length) {
  Runs most;
  for (const Sentence& reference : references) {
    for (const auto& [run, count] : runs_of(reference, length)) {
      most[run] = std::max(most[run], count);
    }
  }
  return most;
}

std::int64_t nearest_length(std::int64_t written, std::span<const Sentence> references) {
  std::int64_t best = std::ssize(references.front());
  for (const Sentence& reference : references) {
    const std::int64_t length = std::ssize(reference);
    const std::int64_t off = std::abs(length - written);
    const std::int64_t least = std::abs(best - written);
    if (off < least || (off == least && length < best)) best = length;
  }
  return best;
}

}  // namespace

Sentence split_words(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\n\r\f\v";
  Sentence words;
  while (true) {
    const std::size_t first = text.find_first_not_of(kBlanks);
    if (first == std::string_view::npos) return words;
    const std::size_t end = std::min(text.find_first_of(kBlanks, first), text.size());
    words.emplace_back(text.substr(first, end - first));
    text.remove_prefix(end);
  }
}

void Bleu::add(const Sentence& written, std::span<const Sentence> references) {
  TRIREME_CHECK(!references.empty(), "BLEU requires at least one reference");
  for (std::size_t length = 1; length <= kLongest; ++length) {
    const Runs most = most_of(references, length);
    for (const auto& [run, count] : runs_of(written, length)) {
      const auto found = most.find(run);
      totals_[length - 1] += count;
      if (found != most.end()) matches_[length - 1] += std::min(count, found->second);
    }
  }
  written_ += std::ssize(written);
  expected_ += nearest_length(std::ssize(written), references);
}

double Bleu::precision(std::size_t length) const {
  TRIREME_CHECK(length >= 1 && length <= kLongest, "n-grams of ", length, " words");
  const auto total = static_cast<double>(totals_[length - 1]);
  return total == 0 ? 0 : static_cast<double>(matches_[length - 1]) / total;
}

double Bleu::brevity_penalty() const {
  if (written_ >= expected_) return 1;
  if (written_ == 0) return 0;
  return std::exp(1 - static_cast<double>(expected_) / static_cast<double>(written_));
}

double Bleu::score() const {
  double logs = 0;
  for (std::size_t length = 1; length <= kLongest; ++length) {
    if (matches_[length - 1] == 0) return 0;
    logs += std::log(precision(length));
  }
  return brevity_penalty() * std::exp(logs / double{kLongest});
}

}  // namespace trireme::train
