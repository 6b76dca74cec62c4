// TextConfig is the `[data]` section of kind text.
//
// Thread safety: a value type.

#pragma once

#include <filesystem>
#include <string>

#include "trireme/base/config/fields.h"
#include "trireme/data/text/augment_text.h"
#include "trireme/data/tokenizer/documents.h"

namespace trireme::data::sequence {

enum class Unit { Character, Byte };

struct TextConfig {
  std::filesystem::path file;
  Unit unit = Unit::Character;
  std::filesystem::path tokenizer = {};  // NOLINT(readability-redundant-member-init)
  tokenizer::Documents documents = tokenizer::Documents::Text;
  std::string document_end = {};  // NOLINT(readability-redundant-member-init)
  bool are_documents_apart = false;
  std::filesystem::path cache = {};  // NOLINT(readability-redundant-member-init)
  std::int64_t context = 64;
  double validation = 0.1;
  std::int64_t stride = 1;
  std::int64_t test_stride = 0;
  double word_drop = 0;
  double word_swap = 0;
  double word_synonym = 0;
  std::filesystem::path synonyms = {};  // NOLINT(readability-redundant-member-init)
  double sentence_reorder = 0;

  text::TextChanges changes() const noexcept {
    return {
        .drop = word_drop, .swap = word_swap, .synonym = word_synonym, .reorder = sentence_reorder};
  }

  static void describe(config::Fields<TextConfig>& f);
};

}  // namespace trireme::data::sequence
