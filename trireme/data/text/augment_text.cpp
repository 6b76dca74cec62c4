#include "trireme/data/text/augment_text.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace trireme::data::text {
namespace {

constexpr std::string_view kBlanks = " \t\n\r\f\v";

struct Word {
  std::string letters;
  std::string blanks;  // after the word
};

struct Parsed {
  std::string before;  // blanks before the first word
  std::vector<Word> words;
};

Parsed parse(std::string_view text) {
  const auto take = [&](bool is_blank) {
    const std::size_t end =
        is_blank ? text.find_first_not_of(kBlanks) : text.find_first_of(kBlanks);
    const std::string part(text.substr(0, end));
    text.remove_prefix(part.size());
    return part;
  };
  Parsed parsed{.before = take(true), .words = {}};
  while (!text.empty()) {
    std::string letters = take(false);
    parsed.words.push_back({std::move(letters), take(true)});
  }
  return parsed;
}

bool is_letter(char c) {
  // Includes the bytes of characters beyond ASCII.
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool is_capital(char c) {
  return c >= 'A' && c <= 'Z';
}

bool happens(double share, Random& random) {
  return share > 0 && random.uniform_double() < share;
}

void reorder(std::vector<Word>& words, Random& random) {
  std::vector<std::vector<Word>> sentences(1);
  for (Word& word : words) {
    const bool is_end = std::string_view(".!?").find(word.letters.back()) != std::string_view::npos;
    sentences.back().push_back(std::move(word));
    if (is_end) sentences.emplace_back();
  }
  if (sentences.back().empty()) sentences.pop_back();
  // Fisher-Yates shuffle; the last sentence stays the last.
  for (std::size_t i = sentences.empty() ? 0 : sentences.size() - 1; i > 1; --i) {
    std::swap(sentences[i - 1], sentences[random.below(i)]);
  }
  words.clear();
  for (std::vector<Word>& sentence : sentences) {
    std::move(sentence.begin(), sentence.end(), std::back_inserter(words));
  }
}

// Punctuation before and after the word and a capital letter are kept.
void replace(Word& word, const Synonyms& synonyms, double share, Random& random) {
  const auto first = std::find_if(word.letters.begin(), word.letters.end(), is_letter);
  const auto last = std::find_if(word.letters.rbegin(), word.letters.rend(), is_letter).base();
  if (first >= last) return;
  const std::vector<std::string>* others = synonyms.of({first, last});
  if (others == nullptr || !happens(share, random)) return;
  std::string other = (*others)[random.below(others->size())];
  if (is_capital(*first) && other[0] >= 'a' && other[0] <= 'z') {
    other[0] = static_cast<char>(other[0] - 'a' + 'A');
  }
  word.letters =
      std::string(word.letters.begin(), first) + other + std::string(last, word.letters.end());
}

}  // namespace

std::string augment_text(std::string_view text, const TextChanges& changes,
                         const Synonyms& synonyms, Random& random) {
  auto [all, words] = parse(text);
  if (happens(changes.reorder, random)) reorder(words, random);
  for (Word& word : words) {
    if (changes.synonym > 0) replace(word, synonyms, changes.synonym, random);
  }
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    // Skip the next word, because both have moved.
    if (happens(changes.swap, random)) std::swap(words[i].letters, words[i + 1].letters), ++i;
  }
  for (const Word& word : words) {
    if (!happens(changes.drop, random)) all += word.letters + word.blanks;
  }
  return all;
}

}  // namespace trireme::data::text
