// TextSource is a text as windows of tokens: characters, bytes, or the tokens of a tokenizer.
//
// Semantics: input and target are int64 (context). class_names contains the text of each token.
// Errors:    NotFound; Corrupt, with the offset, for bytes that are not UTF-8; InvalidInput if the
//            text is shorter than a window; the errors of opening a tokenizer.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trireme/data/order/sample_plan.h"
#include "trireme/data/registry.h"
#include "trireme/data/sequence/text_config.h"
#include "trireme/data/sequence/token_row.h"
#include "trireme/data/source/source.h"

namespace trireme::data::sequence {

// A text as tokens, shared by the sources of its parts.
struct TokenText {
  std::shared_ptr<const TokenRow> row = nullptr;
  std::vector<std::string> vocabulary = {};  // the text of each token
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer = nullptr;
  std::optional<std::int64_t> document_end = {};  // set if attention is limited to one document

  std::int64_t classes() const { return std::ssize(vocabulary); }
};

// With `known`, uses the vocabulary that the model was trained with; otherwise that of the text.
TokenText read_text(const TextConfig& config, const Preprocessing* known = nullptr);

class TextSource final : public Source {
 public:
  struct Options {
    std::shared_ptr<const TokenText> text;
    Range part;  // range of tokens of the text
    std::int64_t context = 64;
    std::int64_t stride = 1;
  };

  explicit TextSource(const Options& options);

  std::int64_t count() const override;
  const Form& form() const override { return form_; }
  void read(std::int64_t sample, const SampleKey& key, void* input, void* target) const override;

 private:
  Options options_;
  Form form_;
};

Sets open_text(const TextConfig& config);
// Opens the part that is not used for training. Errors: InvalidInput for characters that are not in
// the vocabulary.
std::shared_ptr<const Source> open_test_text(const TextConfig& config, const Preprocessing& known);

}  // namespace trireme::data::sequence
