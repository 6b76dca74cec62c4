// generate() continues a text with a language model, one token at a time, with a key/value cache.
// When the text becomes longer than the model's context, its older half is dropped.
//
// Errors:        Diverged if the model's outputs are not finite; what the model throws.
// Thread safety: one thread.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "trireme/data/form.h"
#include "trireme/model/model.h"
#include "trireme/train/evaluate/sampler.h"

namespace trireme::train {

struct GenerationOptions {
  std::vector<std::int64_t> prompt;  // at least one token
  std::int64_t count = 200;
  std::int64_t context = 0;  // maximum number of tokens that the model can read
  int layers = 0;            // upper bound for the number of layers with a key/value cache
  SamplerOptions sampling;
};

// Calls `take` with each new token; generation ends early if it returns false.
void generate(model::Model& model, const GenerationOptions& options,
              const std::function<bool(std::int64_t)>& take);

// Converts between text and tokens with the class names of the data. Without names, the text of a
// token is its number.
class Vocabulary {
 public:
  explicit Vocabulary(const data::Form& form)
      : names_(form.class_names), classes_(form.classes), tokenizer_(form.tokenizer) {}

  // Whether tokens are parts of a text, not numbers separated by blanks.
  bool is_text() const noexcept { return !names_.empty(); }
  // Throws InvalidInput for a character that is not in the vocabulary, or a number that is no
  // token.
  std::vector<std::int64_t> encode(const std::string& text) const;
  // The prompt if the user gave none.
  std::vector<std::int64_t> beginning() const;
  std::string decode(std::int64_t token) const;

 private:
  std::vector<std::int64_t> numbered(const std::string& text) const;
  std::vector<std::int64_t> named(const std::string& text) const;

  std::vector<std::string> names_;
  std::int64_t classes_;
  std::shared_ptr<const data::tokenizer::Tokenizer>
      tokenizer_;  // null: tokens are found by their names
};

}  // namespace trireme::train
