// File formats of published tokenizers.
//
//   vocab.json + merges.txt   GPT-2; also called encoder.json and vocab.bpe
//   tokenizer.json            Hugging Face's `tokenizers`, with a BPE model
//
// Thread safety: pure functions; any thread.
// Errors:        NotFound; Corrupt if a file does not have the format of its name; Unsupported,
//                with the name of the part, if a tokenizer.json requires something that would be
//                encoded differently here.

#pragma once

#include <filesystem>
#include <memory>

#include "trireme/data/tokenizer/tokenizer.h"

namespace trireme::data::tokenizer {

// `path` is a folder that contains either format, a vocab.json (or merges.txt) with the other file
// beside it, or a tokenizer.json. In a folder with both, tokenizer.json is used.
std::shared_ptr<const Tokenizer> open_tokenizer(const std::filesystem::path& path);

// Whether a folder contains either format.
bool has_tokenizer(const std::filesystem::path& folder);

// The name of the end-of-text token in GPT-2's vocabulary.
inline constexpr std::string_view kEndOfText = "<|endoftext|>";

// The two parts, for a caller that already has their contents. `name` is used in messages.
TokenizerParts read_gpt2(std::string_view vocabulary, std::string_view merges,
                         const std::string& name);
TokenizerParts read_tokenizer_json(std::string_view text, const std::string& name);

// Writes a tokenizer.json that read_tokenizer_json() and Hugging Face's `tokenizers` read
// identically.
std::string write_tokenizer_json(const Tokenizer& tokenizer);

// Writes vocab.json and merges.txt. REQUIRES: the tokenizer is byte-level.
void save_gpt2(const Tokenizer& tokenizer, const std::filesystem::path& folder);

}  // namespace trireme::data::tokenizer
