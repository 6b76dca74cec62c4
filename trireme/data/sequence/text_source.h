// TextSource is a text as windows of tokens: characters, bytes, or what a tokenizer makes of it.
//
// Meaning: input and target are int64 (context). class_names are what the tokens stand for.
// Failure: NotFound; Corrupt, with the offset, for bytes that are no UTF-8; InvalidInput where the
//          text is shorter than a window; what opening a tokenizer throws.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trireme/data/deal.h"
#include "trireme/data/registry.h"
#include "trireme/data/sequence/text_config.h"
#include "trireme/data/sequence/token_row.h"
#include "trireme/data/source.h"

namespace trireme::data::sequence {

// A text as numbers, shared by the sources of its parts.
struct TokenText {
  std::shared_ptr<const TokenRow> row = nullptr;
  std::vector<std::string> vocabulary = {};  // what each token stands for
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer = nullptr;
  std::optional<std::int64_t> document_end = {};  // where attention ends with a document

  std::int64_t classes() const { return std::ssize(vocabulary); }
};

TokenText read_text(const TextConfig& config);

class TextSource final : public Source {
 public:
  struct Options {
    std::shared_ptr<const TokenText> text;
    Range part;  // tokens of the text
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

}  // namespace trireme::data::sequence
