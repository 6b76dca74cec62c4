// generate() lets a language model go on with a text, one token at a time, keeping what attention
// has already computed.
//
// When the text outgrows the model's context, its older half is forgotten.
//
// Threads: one.
// Failure: Diverged where the model's outputs are not finite; what the model throws.

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
  std::int64_t context = 0;  // tokens that the model can look at
  int layers = 0;            // that keep keys and values, at most
  SamplerOptions sampling;
};

// Each token as it comes; generation ends early when `take` returns false.
void generate(model::Model& model, const GenerationOptions& options,
              const std::function<bool(std::int64_t)>& take);

// Tokens of a text, and the text of a token, by the names that the data gave its classes; without
// names a token is its number.
class Vocabulary {
 public:
  explicit Vocabulary(const data::Form& form)
      : names_(form.class_names), classes_(form.classes), tokenizer_(form.tokenizer) {}

  // Whether tokens are pieces of a text, and not numbers that blanks part.
  bool is_text() const noexcept { return !names_.empty(); }
  // Throws InvalidInput for a character that the data never had, or a number that is no token.
  std::vector<std::int64_t> encode(const std::string& text) const;
  // What to go on with where nobody said anything.
  std::vector<std::int64_t> beginning() const;
  std::string decode(std::int64_t token) const;

 private:
  std::vector<std::int64_t> numbered(const std::string& text) const;
  std::vector<std::int64_t> named(const std::string& text) const;

  std::vector<std::string> names_;
  std::int64_t classes_;
  std::shared_ptr<const data::tokenizer::Tokenizer> tokenizer_;  // null: names alone tell
};

}  // namespace trireme::train
