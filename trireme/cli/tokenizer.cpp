#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>

#include "trireme/base/error.h"
#include "trireme/base/file/mapped_file.h"
#include "trireme/cli/commands.h"
#include "trireme/cli/setters.h"
#include "trireme/data/tokenizer/documents.h"
#include "trireme/data/tokenizer/files.h"
#include "trireme/data/tokenizer/token_file.h"
#include "trireme/data/tokenizer/train.h"

namespace trireme::cli {
namespace {

namespace fs = std::filesystem;
namespace tok = data::tokenizer;

struct TokenizerOptions {
  std::string what, path;
  std::vector<std::string> more;
  std::string to, text, end, documents = "text";
  int vocabulary = 4096;
  int count_min = 2;
};

[[noreturn]] void refuse_words(const std::string& why) {
  throw Error(ErrorCode::InvalidInput, why);
}

tok::Documents documents_of(const std::string& name) {
  if (name == "text") return tok::Documents::Text;
  if (name == "lines") return tok::Documents::Lines;
  return name == "blocks" ? tok::Documents::Blocks : tok::Documents::JsonLines;
}

int learn(const TokenizerOptions& options) {
  if (options.to.empty()) refuse_words("--to is missing: the folder for vocab.json and merges.txt");
  std::vector<std::string> files = options.more;
  files.insert(files.begin(), options.path);
  tok::WordCounts words;
  for (const std::string& file : files) {
    const MappedFile text(file);
    tok::for_each_document(text_of(text.bytes()), documents_of(options.documents),
                           [&](std::string_view document) {
                             while (!document.empty()) {
                               const std::size_t size = tok::first_part(document);
                               words.add(document.substr(0, size));
                               document.remove_prefix(size);
                             }
                           });
  }
  tok::BpeOptions how{.vocabulary = static_cast<std::size_t>(options.vocabulary),
                      .count_min = options.count_min};
  how.specials.emplace_back(options.end.empty() ? std::string(tok::kEndOfText) : options.end);
  const tok::Tokenizer tokenizer(tok::train_bpe(words, how));
  tok::save_gpt2(tokenizer, options.to);
  std::printf("%s: %zu tokens, from %zu different words\n", options.to.c_str(), tokenizer.size(),
              words.all().size());
  return 0;
}

std::optional<tok::Token> end_of(const TokenizerOptions& options, const tok::Tokenizer& tokenizer) {
  if (options.end.empty()) return std::nullopt;
  const auto token = tokenizer.find(options.end);
  if (!token) refuse_words(options.path + " has no token '" + options.end + "'");
  return token;
}

void print_tokens(std::span<const tok::Token> tokens) {
  for (const tok::Token token : tokens) std::printf("%u\n", token);
}

int encode(const TokenizerOptions& options) {
  const auto tokenizer = tok::open_tokenizer(options.path);
  std::unique_ptr<tok::TokenFile> file;
  if (!options.to.empty()) file = std::make_unique<tok::TokenFile>(options.to, tokenizer->size());
  const tok::EncodeOptions how{.documents = documents_of(options.documents),
                               .end = end_of(options, *tokenizer),
                               .take = [&](std::span<const tok::Token> tokens) {
                                 file ? file->add(tokens) : print_tokens(tokens);
                               }};
  std::int64_t count = 0;
  if (!options.text.empty()) count += tok::encode_documents(*tokenizer, options.text, how);
  for (const std::string& name : options.more) {
    const MappedFile text(name);
    count += tok::encode_documents(*tokenizer, text_of(text.bytes()), how);
  }
  if (!file) return 0;
  file->finish();
  std::printf("%s: %lld tokens of %zu bits, a vocabulary of %zu\n", options.to.c_str(),
              static_cast<long long>(count), 8 * tok::token_width(tokenizer->size()),
              tokenizer->size());
  return 0;
}

int decode(const TokenizerOptions& options) {
  const auto tokenizer = tok::open_tokenizer(options.path);
  const std::size_t width = tok::token_width(tokenizer->size());
  for (const std::string& name : options.more) {
    const MappedFile file(name);
    for (std::size_t at = 0; at + width <= file.bytes().size(); at += width) {
      tok::Token token = 0;
      std::memcpy(&token, file.bytes().data() + at, width);
      if (token >= tokenizer->size()) {
        throw Error(ErrorCode::Corrupt, name + ": at byte " + std::to_string(at) + ": token " +
                                            std::to_string(token) + " of a vocabulary of " +
                                            std::to_string(tokenizer->size()));
      }
      const std::string text = tokenizer->text_of(token);
      std::fwrite(text.data(), 1, text.size(), stdout);
    }
  }
  return 0;
}

int act_on_tokenizer(const TokenizerOptions& options) {
  if (options.what == "train") return learn(options);
  if (options.what == "encode") {
    if (options.more.empty() == options.text.empty()) {
      refuse_words("give texts to encode, or --text: trireme tokenizer encode bpe input.txt");
    }
    return encode(options);
  }
  if (options.more.empty()) {
    refuse_words("give files of tokens: trireme tokenizer decode bpe tokens.bin");
  }
  return decode(options);
}

}  // namespace

Command tokenizer_command() {
  Command command("tokenizer", "Train a byte-pair tokenizer, encode texts and decode tokens",
                  "trireme tokenizer train input.txt --vocabulary 4096 --to bpe");
  command.example("trireme tokenizer encode bpe input.txt --to tokens.bin");
  command.example("trireme tokenizer decode bpe tokens.bin");
  const auto options = std::make_shared<TokenizerOptions>();
  command.argument("train|encode|decode", "what to do", [options](const std::string& text) {
    options->what = text;
    const bool is_known = text == "train" || text == "encode" || text == "decode";
    return is_known ? std::string() : "'" + text + "' is none of train, encode, decode";
  });
  command.argument("PATH",
                   "train: a text; else the tokenizer: tokenizer.json, or the folder of vocab.json "
                   "and merges.txt",
                   set_text(options->path));
  command.words("FILE", "train: more texts; encode: texts; decode: files of tokens",
                [options](const std::vector<std::string>& all) {
                  options->more = all;
                  return std::string();
                });
  command.option("--to", "PATH",
                 "train: the folder to write to; encode: the file of tokens (default: print them)",
                 set_text(options->to));
  command.option("--vocabulary", "N", "train: vocabulary size (default 4096)",
                 number<int>("--vocabulary", {257, 1 << 24}, options->vocabulary));
  command.option("--min-count", "N",
                 "train: least count of a pair that becomes a token (default 2)",
                 number<int>("--min-count", {1, 1 << 30}, options->count_min));
  command.option("--text", "TEXT", "encode: this text instead of files", set_text(options->text));
  command.option(
      "--documents", "text|lines|blocks|json_lines",
      "parts that are encoded separately (default text: the whole file)",
      one_of("--documents", {"text", "lines", "blocks", "json_lines"}, options->documents));
  command.option("--end", "NAME",
                 "token after each document (train: its name, default <|endoftext|>)",
                 set_text(options->end));
  command.action([options] { return act_on_tokenizer(*options); });
  return command;
}

}  // namespace trireme::cli
