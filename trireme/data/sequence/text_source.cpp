#include "trireme/data/sequence/text_source.h"

#include <algorithm>
#include <map>

#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/base/file.h"
#include "trireme/base/utf8.h"
#include "trireme/data/sequence/windows.h"

namespace trireme::data::sequence {
namespace {

constexpr std::size_t kTextSizeMax = std::size_t{1} << 34;

// In UTF-8 the order of the bytes is that of the code points.
TokenText characters_of(std::string_view text, const std::string& name) {
  std::map<std::string_view, std::uint32_t> numbers;
  std::vector<std::string_view> characters;
  characters.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text.substr(at));
    if (length == 0) {
      throw Error(ErrorCode::Corrupt, name + ": at byte " + std::to_string(at) +
                                          ": not UTF-8; data.unit = \"byte\" reads any file");
    }
    characters.push_back(text.substr(at, length));
    numbers.emplace(characters.back(), 0);
    at += length;
  }
  TokenText all;
  for (auto& [character, number] : numbers) {
    number = static_cast<std::uint32_t>(all.vocabulary.size());
    all.vocabulary.emplace_back(character);
  }
  all.tokens.reserve(characters.size());
  for (std::string_view character : characters) all.tokens.push_back(numbers.at(character));
  return all;
}

std::shared_ptr<const TextSource> part_of(const std::shared_ptr<const TokenText>& text, Range part,
                                          const TextConfig& config, std::int64_t stride) {
  auto source = std::make_shared<TextSource>(
      TextSource::Options{.text = text, .part = part, .context = config.context, .stride = stride});
  if (source->count() > 0) return source;
  throw Error(ErrorCode::InvalidInput,
              config.file.string() + ": " + std::to_string(part.count()) + " of its " +
                  std::to_string(text->tokens.size()) +
                  " tokens are fewer than a sample of data.context + 1 = " +
                  std::to_string(config.context + 1));
}

}  // namespace

TokenText tokenize(std::string_view text, Unit unit, const std::string& name) {
  if (unit == Unit::Character) return characters_of(text, name);
  TokenText all;
  for (int byte = 0; byte < 256; ++byte) all.vocabulary.emplace_back(1, static_cast<char>(byte));
  all.tokens.reserve(text.size());
  for (char byte : text) all.tokens.push_back(static_cast<unsigned char>(byte));
  return all;
}

TextSource::TextSource(const Options& options) : options_(options) {
  const Range& part = options.part;
  TRIREME_CHECK(options.text != nullptr && options.context >= 1 && options.stride >= 1,
                "a text, a context and a stride");
  TRIREME_CHECK(
      0 <= part.begin && part.begin <= part.end && part.end <= std::ssize(options.text->tokens),
      "tokens ", part.begin, " to ", part.end, " of ", options.text->tokens.size());
  form_ = {.input_sizes = {options.context},
           .input_type = at::kLong,
           .target_sizes = {options.context},
           .target_type = at::kLong,
           .classes = options.text->classes(),
           .class_names = options.text->vocabulary};
}

std::int64_t TextSource::count() const {
  return count_windows(options_.part.count(), options_.context, options_.stride);
}

void TextSource::read(std::int64_t sample, const SampleKey&, void* input, void* target) const {
  TRIREME_CHECK(sample >= 0 && sample < count(), "sample ", sample, " of ", count());
  const std::uint32_t* const from =
      options_.text->tokens.data() + options_.part.begin + sample * options_.stride;
  std::copy_n(from, options_.context, static_cast<std::int64_t*>(input));
  std::copy_n(from + 1, options_.context, static_cast<std::int64_t*>(target));
}

Sets open_text(const TextConfig& config) {
  if (config.file.empty()) {
    throw Error(ErrorCode::InvalidInput,
                "data.file: name the text to train on, for example data.file=input.txt");
  }
  const auto text = std::make_shared<const TokenText>(
      tokenize(read_file(config.file, kTextSizeMax), config.unit, config.file));
  const std::int64_t count = std::ssize(text->tokens);
  const std::int64_t split = split_at(count, config.validation);
  Sets sets{.train = part_of(text, {0, split}, config, config.stride), .test = nullptr};
  if (config.validation > 0) {
    const std::int64_t stride = config.test_stride > 0 ? config.test_stride : config.context;
    sets.test = part_of(text, {split, count}, config, stride);
  }
  return sets;
}

}  // namespace trireme::data::sequence
