// AugmentedText is windows of a text whose words were changed on the way, drawn from the sample's
// key: see trireme/data/text/augment_text.h.
//
// Meaning: sample i begins where that of a TextSource of the same part begins. About two windows
//          of the text are decoded, changed and encoded again, and the first tokens of that are the
//          sample; near the part's end it begins earlier. A sample that is left with too few
//          tokens, or would need a capital that the text never has, stays as it was. Special tokens
//          stay in place, and nothing moves across them.
// Threads: any thread.
// Failure: InvalidInput where a synonym has a character that the text's vocabulary has not.

#pragma once

#include <map>
#include <string>
#include <vector>

#include "trireme/data/sequence/text_source.h"
#include "trireme/data/text/augment_text.h"

namespace trireme::data::sequence {

class AugmentedText final : public Source {
 public:
  AugmentedText(const TextSource::Options& options, const text::TextChanges& changes,
                text::Synonyms synonyms);

  std::int64_t count() const override { return plain_.count(); }
  const Form& form() const override { return plain_.form(); }
  void read(std::int64_t sample, const SampleKey& key, void* input, void* target) const override;

 private:
  bool is_special(std::int64_t token) const;
  // False where a character has no token.
  bool encode(const std::string& text, std::vector<std::int64_t>& out) const;
  // Nothing where a capital has no token.
  std::vector<std::int64_t> changed(const std::vector<std::int64_t>& tokens,
                                    const SampleKey& key) const;

  TextSource plain_;
  TextSource::Options options_;
  text::TextChanges changes_;
  text::Synonyms synonyms_;
  std::map<std::string, std::int64_t, std::less<>> by_piece_;  // without a tokenizer
  std::vector<bool> is_special_;
};

}  // namespace trireme::data::sequence
