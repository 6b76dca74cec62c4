// generate() continues a text with a language model, one token at a time, with a key/value cache.
// When the text becomes longer than the model's context, its older half is dropped.
//
// Errors:        Diverged if the model's outputs are not finite; what the model throws.
// Thread safety: one thread.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "trireme/base/random.h"
#include "trireme/data/form.h"
#include "trireme/model/model.h"

namespace trireme::train {

// Logits are divided by `temperature` (0: always the most likely token). Only the `top_k` most
// likely tokens are kept, and of these the fewest whose probabilities add up to `top_p`. The same
// seed gives the same tokens.
struct SamplerOptions {
  double temperature = 1;
  std::int64_t top_k = 0;  // 0: all
  double top_p = 1;
  std::uint64_t seed = 1;
};

// Draws the next token from a model's logits. A logit of -inf excludes its token.
class Sampler {
 public:
  // REQUIRES: a finite temperature >= 0, top_k >= 0, and top_p from 0 to 1.
  explicit Sampler(const SamplerOptions& options);

  // REQUIRES: at least one logit.
  std::int64_t draw(std::span<const float> logits);

 private:
  SamplerOptions options_;
  Random random_;
};

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
