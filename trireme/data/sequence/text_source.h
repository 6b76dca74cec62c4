// TextSource is a text as windows of tokens, each a character or a byte.
//
// Meaning: input and target are int64 (context). class_names are the characters in the order of
//          their numbers, that of their code points as nanoGPT has it, or all 256 bytes.
// Failure: NotFound; Corrupt, with the offset, for bytes that are no UTF-8; InvalidInput where the
//          text is shorter than a window.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "trireme/data/deal.h"
#include "trireme/data/registry.h"
#include "trireme/data/sequence/text_config.h"
#include "trireme/data/source.h"

namespace trireme::data::sequence {

// A text as numbers, shared by the sources of its parts.
struct TokenText {
  std::vector<std::uint32_t> tokens;
  std::vector<std::string> vocabulary;  // characters that occur, or the 256 bytes

  std::int64_t classes() const { return std::ssize(vocabulary); }
};

// `name` is for messages.
TokenText tokenize(std::string_view text, Unit unit, const std::string& name);

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
