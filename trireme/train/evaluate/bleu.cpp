#include "trireme/train/evaluate/bleu.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <map>
#include <sstream>

#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/train/evaluate/generation.h"

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

Sentence words_of(const std::vector<std::int64_t>& tokens, const Vocabulary& vocabulary) {
  std::string text;
  for (const std::int64_t token : tokens) {
    text += vocabulary.decode(token);
    if (!vocabulary.is_text()) text += ' ';
  }
  return split_words(text);
}

}  // namespace

Sentence split_words(std::string_view text) {
  std::istringstream words{std::string(text)};
  return {std::istream_iterator<std::string>(words), {}};
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

double bleu_of_continuations(model::Model& model, const data::Source& source,
                             std::int64_t windows) {
  const data::Form& form = source.form();
  if (!form.is_text() || form.input_sizes[0] < 2) {
    throw Error(ErrorCode::InvalidInput, "--bleu requires text data");
  }
  const std::int64_t length = form.input_sizes[0];
  const std::int64_t half = length / 2;
  const std::int64_t count = std::min(windows, source.count());
  const Vocabulary vocabulary(form);
  std::vector<std::int64_t> input(static_cast<std::size_t>(length));
  std::vector<std::int64_t> target(input.size());
  Bleu bleu;
  for (std::int64_t i = 0; i < count; ++i) {
    source.read(i * source.count() / count, {}, input.data(), target.data());
    const auto middle = input.begin() + half;
    std::vector<std::int64_t> written;
    generate(model,
             {.prompt = {input.begin(), middle},
              .count = length - half,
              .context = length,
              .layers = std::max(1, static_cast<int>(model.blocks().size())),
              .sampling = {.temperature = 0}},
             [&](std::int64_t token) {
               written.push_back(token);
               return true;
             });
    const Sentence reference = words_of({middle, input.end()}, vocabulary);
    bleu.add(words_of(written, vocabulary), {&reference, 1});
  }
  return bleu.score();
}

}  // namespace trireme::train
