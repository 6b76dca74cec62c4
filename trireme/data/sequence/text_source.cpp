#include "trireme/data/sequence/text_source.h"

#include <algorithm>

#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/data/sequence/augmented_text.h"
#include "trireme/data/sequence/encoded_row.h"
#include "trireme/data/sequence/plain_rows.h"
#include "trireme/data/sequence/windows.h"
#include "trireme/data/tokenizer/files.h"

namespace trireme::data::sequence {
namespace {

std::shared_ptr<const TextSource> part_of(const std::shared_ptr<const TokenText>& text, Range part,
                                          const TextConfig& config, std::int64_t stride) {
  auto source = std::make_shared<TextSource>(
      TextSource::Options{.text = text, .part = part, .context = config.context, .stride = stride});
  if (source->count() > 0) return source;
  throw Error(ErrorCode::InvalidInput,
              config.file.string() + ": " + std::to_string(part.count()) + " of its " +
                  std::to_string(text->row->count()) +
                  " tokens are fewer than a sample of data.seq_len + 1 = " +
                  std::to_string(config.context + 1));
}

std::shared_ptr<const TextSource> test_part(const std::shared_ptr<const TokenText>& text,
                                            const TextConfig& config) {
  const std::int64_t count = text->row->count();
  const std::int64_t stride = config.test_stride > 0 ? config.test_stride : config.context;
  return part_of(text, {split_at(count, config.validation), count}, config, stride);
}

void require_file(const TextConfig& config) {
  if (!config.file.empty()) return;
  throw Error(ErrorCode::InvalidInput,
              "data.file: name the text to train on, for example data.file=input.txt");
}

std::shared_ptr<const tokenizer::Tokenizer> open_tokenizer(const TextConfig& config) {
  try {
    return tokenizer::open_tokenizer(config.tokenizer);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::NotFound) throw;
    throw Error(ErrorCode::NotFound,
                "data.tokenizer: " + error.message() +
                    ". Correct the path; `trireme checkpoint export JOB FOLDER` writes the "
                    "tokenizer of a trained job");
  }
}

}  // namespace

TokenText read_text(const TextConfig& config, const Preprocessing* known) {
  if (!config.tokenizer.empty()) {
    const auto tokenizer = known != nullptr && known->source.tokenizer ? known->source.tokenizer
                                                                       : open_tokenizer(config);
    TokenText text{.row = std::make_shared<EncodedRow>(config, *tokenizer),
                   .vocabulary = tokenizer->texts(),
                   .tokenizer = tokenizer};
    if (config.are_documents_apart) text.document_end = end_token(config, *tokenizer);
    return text;
  }
  if (config.unit == Unit::Byte) {
    return {.row = std::make_shared<ByteRow>(config.file), .vocabulary = all_bytes()};
  }
  auto row = std::make_shared<CharacterRow>(
      config.file, known != nullptr ? known->source.class_names : std::vector<std::string>());
  return {.row = row, .vocabulary = row->characters()};
}

TextSource::TextSource(const Options& options) : options_(options) {
  const Range& part = options.part;
  TRIREME_CHECK(options.text != nullptr && options.context >= 1 && options.stride >= 1,
                "a text, a context and a stride");
  TRIREME_CHECK(0 <= part.begin && part.begin <= part.end && part.end <= options.text->row->count(),
                "tokens ", part.begin, " to ", part.end, " of ", options.text->row->count());
  form_ = {.input_sizes = {options.context},
           .input_type = at::kLong,
           .target_sizes = {options.context},
           .target_type = at::kLong,
           .classes = options.text->classes(),
           .class_names = options.text->vocabulary,
           .tokenizer = options.text->tokenizer,
           .document_end = options.text->document_end.value_or(-1)};
}

std::int64_t TextSource::count() const {
  return count_windows(options_.part.count(), options_.context, options_.stride);
}

void TextSource::read(std::int64_t sample, const SampleKey&, void* input, void* target) const {
  TRIREME_CHECK(sample >= 0 && sample < count(), "sample ", sample, " of ", count());
  // The targets are the inputs without the first, followed by the token after the last.
  auto* const from = static_cast<std::int64_t*>(input);
  auto* const to = static_cast<std::int64_t*>(target);
  const TokenRow& row = *options_.text->row;
  const std::int64_t first = options_.part.begin + sample * options_.stride;
  row.read(first, options_.context, from);
  std::copy(from + 1, from + options_.context, to);
  row.read(first + options_.context, 1, to + options_.context - 1);
}

Sets open_text(const TextConfig& config) {
  require_file(config);
  const auto text = std::make_shared<const TokenText>(read_text(config));
  const std::int64_t count = text->row->count();
  const std::int64_t split = split_at(count, config.validation);
  Sets sets{.train = part_of(text, {0, split}, config, config.stride)};
  if (!config.changes().is_nothing()) {
    sets.plain = sets.train;
    sets.train = std::make_shared<AugmentedText>(
        TextSource::Options{
            .text = text, .part = {0, split}, .context = config.context, .stride = config.stride},
        config.changes(),
        config.synonyms.empty() ? text::Synonyms() : text::Synonyms::read(config.synonyms));
  }
  if (config.validation > 0) sets.test = test_part(text, config);
  return sets;
}

std::shared_ptr<const Source> open_test_text(const TextConfig& config, const Preprocessing& known) {
  if (config.validation == 0) return nullptr;
  require_file(config);
  return test_part(std::make_shared<const TokenText>(read_text(config, &known)), config);
}

}  // namespace trireme::data::sequence
