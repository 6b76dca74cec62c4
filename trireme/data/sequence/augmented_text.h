// AugmentedText reads windows of a text and changes words when they are read, with random values
// from the sample's key: see trireme/data/text/augment_text.h.
//
// Semantics:     sample i begins where it begins in a TextSource of the same part. About two
//                windows of the text are decoded, changed and encoded again; the first tokens of
//                the result are the sample. Near the end of the part it begins earlier. A sample
//                that would have too few tokens, or would need a capital letter that the text never
//                has, stays unchanged. Special tokens stay in place, and no text moves across them.
// Thread safety: any thread.
// Errors:        InvalidInput if a synonym has a character that is not in the text's vocabulary.

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
  bool is_special(std::int64_t token) const { return is_special_[static_cast<std::size_t>(token)]; }
  // Returns false if a character has no token.
  bool encode(const std::string& text, std::vector<std::int64_t>& out) const;
  // Empty if a capital letter has no token.
  std::vector<std::int64_t> changed(const std::vector<std::int64_t>& tokens,
                                    const SampleKey& key) const;

  TextSource plain_;
  TextSource::Options options_;
  text::TextChanges changes_;
  text::Synonyms synonyms_;
  std::map<std::string, std::int64_t, std::less<>> by_piece_;  // used without a tokenizer
  std::vector<bool> is_special_;
};

}  // namespace trireme::data::sequence
