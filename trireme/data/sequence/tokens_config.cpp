#include "trireme/data/sequence/tokens_config.h"

namespace trireme::data::sequence {

void TokensConfig::describe(config::Fields<TokensConfig>& f) {
  f.add("train", &TokensConfig::train)
      .help("files of tokens to train on, or folders whose .bin files are taken by name");
  f.add("test", &TokensConfig::test).help("the same to evaluate on; empty: none");
  f.add("type", &TokensConfig::type)
      .names({{"uint16", TokenType::Uint16}, {"uint32", TokenType::Uint32}})
      .help("of a token in the files");
  f.add("vocab_size", &TokensConfig::vocabulary)
      .synonyms({"vocabulary"})
      .range(1, std::int64_t{1} << 32)
      .unit("tokens")
      .help("that there are; a larger one in a file is an error");
  f.add("seq_len", &TokensConfig::context)
      .synonyms({"context", "block_size", "max_length", "sequence_length"})
      .range(1, std::int64_t{1} << 24)
      .unit("tokens")
      .help("of a sample's input");
  f.add("stride", &TokensConfig::stride)
      .range(0, std::int64_t{1} << 24)
      .unit("tokens")
      .help("from one sample to the next; 0: the context");
  f.add("document_end", &TokensConfig::document_end)
      .range(-1, std::int64_t{1} << 32)
      .help("token that ends documents, within which gpt and llama then attend; -1: across them");
}

}  // namespace trireme::data::sequence
