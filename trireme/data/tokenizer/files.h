// Files that tokenizers are published in.
//
//   vocab.json + merges.txt   GPT-2's; also called encoder.json and vocab.bpe
//   tokenizer.json            of Hugging Face's `tokenizers`, with a model of kind BPE
//
// Threads: pure.
// Failure: NotFound; Corrupt where a file is not what its name says; Unsupported, with the part's
//          name, where a tokenizer.json asks for something that would be encoded otherwise here.

#pragma once

#include <filesystem>
#include <memory>

#include "trireme/data/tokenizer/tokenizer.h"

namespace trireme::data::tokenizer {

// A folder that holds either, vocab.json (or merges.txt) with the other beside it, or a
// tokenizer.json. A folder with both is read by its tokenizer.json.
std::shared_ptr<const Tokenizer> open_tokenizer(const std::filesystem::path& path);

// The name under which a text gets its end in GPT-2's vocabulary.
inline constexpr std::string_view kEndOfText = "<|endoftext|>";

// The two parts, for who has them already. `name` is for messages.
TokenizerParts read_gpt2(std::string_view vocabulary, std::string_view merges,
                         const std::string& name);
TokenizerParts read_tokenizer_json(std::string_view text, const std::string& name);

// Writes vocab.json and merges.txt. REQUIRES: it is over bytes.
void save_gpt2(const Tokenizer& tokenizer, const std::filesystem::path& folder);

}  // namespace trireme::data::tokenizer
