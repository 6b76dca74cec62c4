#include "trireme/data/sequence/text_config.h"

namespace trireme::data::sequence {

using tokenizer::Documents;

void TextConfig::describe(config::Fields<TextConfig>& f) {
  f.add("file", &TextConfig::file).help("the text, in UTF-8 where its unit is the character");
  f.add("unit", &TextConfig::unit)
      .names({{"character", Unit::Character}, {"byte", Unit::Byte}})
      .help("what a token is; characters are numbered in the order of their code points");
  f.add("tokenizer", &TextConfig::tokenizer)
      .help("tokenizer.json, or the folder of vocab.json and merges.txt; instead of unit");
  f.add("documents", &TextConfig::documents)
      .names({{"text", Documents::Text},
              {"lines", Documents::Lines},
              {"blocks", Documents::Blocks},
              {"json_lines", Documents::JsonLines}})
      .help(
          "with a tokenizer, what is encoded by itself: all, each line, up to a blank line, or "
          "\"text\" of "
          "each line's JSON");
  f.add("document_end", &TextConfig::document_end)
      .help("name of the token that is put after each document, such as <|endoftext|>");
  f.add("separate_documents", &TextConfig::are_documents_apart)
      .help("tokens attend within their document only; gpt and llama do");
  f.add("cache", &TextConfig::cache)
      .help("folder in which encoded tokens are kept and mapped; empty: in memory");
  f.add("seq_len", &TextConfig::context)
      .synonyms({"context", "block_size", "max_length", "sequence_length"})
      .range(1, std::int64_t{1} << 24)
      .unit("tokens")
      .help("length of a sample's input");
  f.add("validation_fraction", &TextConfig::validation)
      .range(0, 0.9)
      .help("share of the text, at its end, that is not trained on");
  f.add("stride", &TextConfig::stride)
      .range(1, std::int64_t{1} << 24)
      .unit("tokens")
      .help("distance from one training sample to the next");
  f.add("test_stride", &TextConfig::test_stride)
      .range(0, std::int64_t{1} << 24)
      .unit("tokens")
      .help(
          "distance from one validation sample to the next; 0: seq_len, so that each counts once");
  f.add("word_drop", &TextConfig::word_drop)
      .range(0, 0.5)
      .help("fraction of words left out in training; other words in each epoch");
  f.add("word_swap", &TextConfig::word_swap)
      .range(0, 1)
      .help("fraction of words swapped with the next word, in training");
  f.add("word_synonym", &TextConfig::word_synonym)
      .range(0, 1)
      .help("fraction of the words listed in synonyms that are replaced by a synonym, in training");
  f.add("synonyms", &TextConfig::synonyms)
      .help("a file with one group of synonyms per line, separated by commas");
  f.add("sentence_reorder", &TextConfig::sentence_reorder)
      .range(0, 1)
      .help("fraction of training samples whose sentences are reordered");
  f.require([](const TextConfig& c) {
    return (c.word_synonym > 0) != !c.synonyms.empty()
               ? std::string("word_synonym requires synonyms, and synonyms requires word_synonym")
               : std::string();
  });
  f.require([](const TextConfig& c) {
    const bool is_lost = c.are_documents_apart && c.document_end.empty();
    return is_lost ? std::string("separate_documents requires document_end") : std::string();
  });
  f.require([](const TextConfig& c) {
    const bool is_plain = c.documents == Documents::Text && c.document_end.empty();
    return c.tokenizer.empty() && !is_plain
               ? std::string("documents and document_end require tokenizer")
               : std::string();
  });
}

}  // namespace trireme::data::sequence
