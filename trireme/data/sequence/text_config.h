// TextConfig is `[data]` of kind text.
//
// Threads: a value.

#pragma once

#include <filesystem>
#include <string>

#include "trireme/base/config/fields.h"
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

  static void describe(config::Fields<TextConfig>& f);
};

}  // namespace trireme::data::sequence
