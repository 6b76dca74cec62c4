// Goal:   no tokenizer file crashes the reader or the code that then uses the tokenizer.
// Method: the first byte selects the format of the rest; an accepted tokenizer encodes a text and
//         decodes it again.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "trireme/base/error.h"
#include "trireme/data/tokenizer/documents.h"
#include "trireme/data/tokenizer/files.h"
#include "trireme/data/tokenizer/tokenizer.h"

using namespace trireme;
using namespace trireme::data::tokenizer;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void use(TokenizerParts parts) {
  const Tokenizer tokenizer(std::move(parts));
  const std::vector<Token> tokens = tokenizer.encode("a text, \xc3\xa4 \xff 12<|endoftext|>");
  for (const Token token : tokens) require(token < tokenizer.size());
  (void)tokenizer.decode(tokens);
}

void check(unsigned kind, std::string_view text) {
  if (kind == 0) return use(read_tokenizer_json(text, "file"));
  if (kind == 1) {
    const std::size_t cut = std::min(text.find('\0'), text.size());
    return use(read_gpt2(text.substr(0, cut), text.substr(std::min(cut + 1, text.size())), "file"));
  }
  const Documents kinds[] = {Documents::Lines, Documents::Blocks, Documents::JsonLines};
  for_each_document(text, kinds[kind - 2], [](std::string_view one) { require(!one.empty()); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  try {
    check(data[0] % 5, {reinterpret_cast<const char*>(data + 1), size - 1});
  } catch (const Error& error) {
    require(error.code() == ErrorCode::Corrupt || error.code() == ErrorCode::Unsupported ||
            error.code() == ErrorCode::InvalidInput);
  }
  return 0;
}
