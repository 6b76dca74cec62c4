#include "trireme/data/sequence/augmented_text.h"

#include <algorithm>

#include "trireme/base/error.h"
#include "trireme/data/tokenizer/tokenizer.h"
#include "trireme/data/tokenizer/unicode.h"
#include "trireme/data/transform/sample_random.h"

namespace trireme::data::sequence {
namespace {

// Makes these random draws independent of all others from the same seed.
constexpr std::uint64_t kTextPurpose = 0x574F524453;

// Number of tokens to change for a sample of `count` tokens: enough even if half of the words are
// dropped.
std::int64_t span_for(std::int64_t count) {
  return 2 * count + 64;
}

}  // namespace

AugmentedText::AugmentedText(const TextSource::Options& options, const text::TextChanges& changes,
                             text::Synonyms synonyms)
    : plain_(options), options_(options), changes_(changes), synonyms_(std::move(synonyms)) {
  const TokenText& text = *options.text;
  is_special_.resize(text.vocabulary.size());
  if (text.tokenizer) {
    for (const tokenizer::Token token : text.tokenizer->parts().specials) is_special_[token] = true;
    return;
  }
  for (const std::string& piece : text.vocabulary) {
    by_piece_.emplace(piece, static_cast<std::int64_t>(by_piece_.size()));
  }
  std::vector<std::int64_t> tokens;
  for (const std::string& word : synonyms_.all()) {
    if (encode(word, tokens)) continue;
    throw Error(ErrorCode::InvalidInput, "data.synonyms: '" + word +
                                             "' has a character that the text never has, so that "
                                             "a model of the text has none for it");
  }
}
bool AugmentedText::encode(const std::string& text, std::vector<std::int64_t>& out) const {
  if (options_.text->tokenizer) {
    tokenizer::WordCache cache;
    std::vector<tokenizer::Token> tokens;
    options_.text->tokenizer->encode(text, tokens, cache, /*is_continued=*/true);
    out.insert(out.end(), tokens.begin(), tokens.end());
    return true;
  }
  for (std::string_view left = text; !left.empty();) {
    std::size_t size = tokenizer::first_character(left).size;
    auto found = by_piece_.find(left.substr(0, size));
    if (found == by_piece_.end()) {
      // A byte-level vocabulary has one token per byte.
      size = 1;
      found = by_piece_.find(left.substr(0, size));
    }
    if (found == by_piece_.end()) return false;
    out.push_back(found->second);
    left.remove_prefix(size);
  }
  return true;
}

std::vector<std::int64_t> AugmentedText::changed(const std::vector<std::int64_t>& tokens,
                                                 const SampleKey& key) const {
  Random random = transform::random_of(key, kTextPurpose);
  std::vector<std::int64_t> out;
  std::string text;
  bool is_known = true;
  const auto flush = [&] {
    if (!text.empty()) is_known &= encode(augment_text(text, changes_, synonyms_, random), out);
    text.clear();
  };
  for (const std::int64_t token : tokens) {
    if (is_special(token)) {
      flush();
      out.push_back(token);
    } else {
      text += options_.text->vocabulary[static_cast<std::size_t>(token)];
    }
  }
  flush();
  if (!is_known) out.clear();
  return out;
}

void AugmentedText::read(std::int64_t sample, const SampleKey& key, void* input,
                         void* target) const {
  const std::int64_t count = options_.context + 1;
  const std::int64_t span = std::min(span_for(count), options_.part.count());
  const std::int64_t first =
      std::min(options_.part.begin + sample * options_.stride, options_.part.end - span);
  std::vector<std::int64_t> tokens(static_cast<std::size_t>(span));
  options_.text->row->read(first, span, tokens.data());
  const std::vector<std::int64_t> all = changed(tokens, key);
  if (std::ssize(all) < count) return plain_.read(sample, key, input, target);
  std::copy_n(all.begin(), options_.context, static_cast<std::int64_t*>(input));
  std::copy_n(all.begin() + 1, options_.context, static_cast<std::int64_t*>(target));
}

}  // namespace trireme::data::sequence
