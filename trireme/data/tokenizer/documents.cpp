#include "trireme/data/tokenizer/documents.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "trireme/base/error.h"
#include "trireme/base/text/json_text.h"
#include "trireme/data/tokenizer/unicode.h"

namespace trireme::data::tokenizer {
namespace {

bool is_blank_byte(char byte) noexcept {
  return first_character({&byte, 1}).category == Category::Space;
}

// Removes the first line from a text and returns it without its line end.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

void for_each_block(std::string_view text, const std::function<void(std::string_view)>& take) {
  const char* begin = nullptr;
  const char* end = nullptr;
  const auto flush = [&] {
    if (begin != nullptr) take({begin, static_cast<std::size_t>(end - begin)});
    begin = nullptr;
  };
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (std::ranges::all_of(line, is_blank_byte)) {
      flush();
      continue;
    }
    if (begin == nullptr) begin = line.data();
    end = line.data() + line.size();
  }
  flush();
}

std::string text_in(std::string_view line, std::size_t number) {
  try {
    return nlohmann::json::parse(line).at("text").get<std::string>();
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorCode::Corrupt,
                "line " + std::to_string(number) +
                    ": no JSON object with a \"text\": " + json_reason(error.what()));
  }
}

}  // namespace

void for_each_document(std::string_view text, Documents documents,
                       const std::function<void(std::string_view)>& take) {
  if (documents == Documents::Blocks) return for_each_block(text, take);
  if (documents == Documents::Text) {
    if (!text.empty()) take(text);
    return;
  }
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = take_line(text);
    if (line.empty()) continue;
    const bool is_json = documents == Documents::JsonLines;
    const std::string inner = is_json ? text_in(line, number) : std::string();
    if (!is_json || !inner.empty()) take(is_json ? inner : line);
  }
}

std::size_t first_part(std::string_view document, std::size_t size) noexcept {
  for (std::size_t at = std::max<std::size_t>(size, 1); at < document.size(); ++at) {
    if (document[at] != ' ') continue;
    // A blank of several bytes ends in a byte that by itself is not blank.
    std::size_t before = at - 1;
    while (before > 0 && at - before < 4 && (document[before] & 0xC0) == 0x80) --before;
    const Character last = first_character(document.substr(before, at - before));
    if (last.category != Category::Space) return at;
  }
  return document.size();
}

std::int64_t encode_documents(const Tokenizer& tokenizer, std::string_view text,
                              const EncodeOptions& options) {
  WordCache cache;
  std::vector<Token> tokens;
  std::int64_t count = 0;
  const auto hand_over = [&] {
    count += std::ssize(tokens);
    if (!tokens.empty()) options.take(tokens);
    tokens.clear();
  };
  for_each_document(text, options.documents, [&](std::string_view document) {
    const TokenizerParts& parts = tokenizer.parts();
    tokens.insert(tokens.end(), parts.before.begin(), parts.before.end());
    for (bool is_continued = false; !document.empty(); is_continued = true) {
      const std::string_view part = document.substr(0, first_part(document));
      document.remove_prefix(part.size());
      tokenizer.encode(part, tokens, cache, is_continued);
      // Short documents are passed on together.
      if (tokens.size() >= kPartSize / 4) hand_over();
    }
    tokens.insert(tokens.end(), parts.after.begin(), parts.after.end());
    if (options.end) tokens.push_back(*options.end);
  });
  hand_over();
  return count;
}

}  // namespace trireme::data::tokenizer
