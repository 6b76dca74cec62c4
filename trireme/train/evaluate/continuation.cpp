#include "trireme/train/evaluate/continuation.h"

#include <algorithm>
#include <string>
#include <vector>

#include "trireme/base/error.h"
#include "trireme/train/evaluate/bleu.h"
#include "trireme/train/evaluate/generation.h"

namespace trireme::train {
namespace {

Sentence words_of(const std::vector<std::int64_t>& tokens, const Vocabulary& vocabulary) {
  std::string text;
  for (const std::int64_t token : tokens) {
    text += vocabulary.decode(token);
    if (!vocabulary.is_text()) text += ' ';
  }
  return split_words(text);
}

}  // namespace

double bleu_of_continuations(model::Model& model, const data::Source& source,
                             std::int64_t windows) {
  const data::Form& form = source.form();
  if (!form.is_text() || form.input_sizes[0] < 2) {
    throw Error(ErrorCode::InvalidInput, "--bleu requires text data");
  }
  const std::int64_t length = form.input_sizes[0];
  const std::int64_t half = length / 2;
  const std::int64_t count = std::min(windows, source.count());
  const Vocabulary vocabulary(form);
  std::vector<std::int64_t> input(static_cast<std::size_t>(length));
  std::vector<std::int64_t> target(input.size());
  Bleu bleu;
  for (std::int64_t i = 0; i < count; ++i) {
    source.read(i * source.count() / count, {}, input.data(), target.data());
    const auto middle = input.begin() + half;
    std::vector<std::int64_t> written;
    generate(model,
             {.prompt = {input.begin(), middle},
              .count = length - half,
              .context = length,
              .layers = std::max(1, static_cast<int>(model.blocks().size())),
              .sampling = {.temperature = 0}},
             [&](std::int64_t token) {
               written.push_back(token);
               return true;
             });
    const Sentence reference = words_of({middle, input.end()}, vocabulary);
    bleu.add(words_of(written, vocabulary), {&reference, 1});
  }
  return bleu.score();
}

}  // namespace trireme::train
