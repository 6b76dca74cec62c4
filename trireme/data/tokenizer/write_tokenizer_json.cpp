#include <nlohmann/json.hpp>

#include "trireme/data/tokenizer/byte_letters.h"
#include "trireme/data/tokenizer/files.h"

namespace trireme::data::tokenizer {
namespace {

using Json = nlohmann::json;

Json marked_blank() {
  return {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", kMark}};
}

// The names of all tokens as written to the file: bytes are written in letters.
std::vector<std::string> names_of(const TokenizerParts& parts) {
  std::vector<std::string> names = parts.pieces;
  if (!parts.is_over_bytes) return names;
  std::vector<bool> is_special(names.size());
  for (const Token token : parts.specials) is_special[token] = true;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!is_special[i]) names[i] = to_letters(names[i]);
  }
  return names;
}

Json model_of(const TokenizerParts& parts, const std::vector<std::string>& names) {
  Json vocabulary = Json::object();
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!names[i].empty()) vocabulary[names[i]] = i;
  }
  Json merges = Json::array();
  for (const Merge& merge : parts.merges) {
    merges.push_back({names[merge.left], names[merge.right]});
  }
  return {{"type", "BPE"},
          {"dropout", nullptr},
          {"unk_token", parts.unknown ? Json(names[*parts.unknown]) : Json()},
          {"continuing_subword_prefix", nullptr},
          {"end_of_word_suffix", nullptr},
          {"fuse_unk", parts.is_unknown_fused},
          {"byte_fallback", parts.has_byte_tokens},
          {"ignore_merges", parts.is_whole_word_first},
          {"vocab", std::move(vocabulary)},
          {"merges", std::move(merges)}};
}

Json added_of(const TokenizerParts& parts) {
  Json all = Json::array();
  for (const Token token : parts.specials) {
    all.push_back({{"id", token},
                   {"content", parts.pieces[token]},
                   {"single_word", false},
                   {"lstrip", false},
                   {"rstrip", false},
                   {"normalized", false},
                   {"special", true}});
  }
  return all;
}

Json normalizer_of(const TokenizerParts& parts) {
  if (parts.prefix != Prefix::EvenTwice) return nullptr;
  return {{"type", "Sequence"},
          {"normalizers", {{{"type", "Prepend"}, {"prepend", kMark}}, marked_blank()}}};
}

Json pre_tokenizer_of(const TokenizerParts& parts) {
  if (!parts.is_over_bytes) {
    if (parts.prefix == Prefix::EvenTwice && parts.split == Split::Whole) return nullptr;
    const char* const scheme = parts.prefix == Prefix::First    ? "first"
                               : parts.prefix == Prefix::Always ? "always"
                                                                : "never";
    return {{"type", "Metaspace"},
            {"replacement", kMark},
            {"prepend_scheme", scheme},
            {"split", parts.split == Split::Marks}};
  }
  const bool is_split_before = parts.split == Split::Llama3 || parts.split == Split::Qwen2;
  Json bytes{{"type", "ByteLevel"},
             {"add_prefix_space", parts.prefix == Prefix::Always},
             {"trim_offsets", true},
             {"use_regex", parts.split == Split::Gpt2}};
  if (!is_split_before) return bytes;
  return {{"type", "Sequence"},
          {"pretokenizers",
           {{{"type", "Split"},
             {"pattern", {{"Regex", pattern_of(parts.split)}}},
             {"behavior", "Isolated"},
             {"invert", false}},
            std::move(bytes)}}};
}

Json post_processor_of(const TokenizerParts& parts) {
  if (parts.before.empty() && parts.after.empty()) {
    return parts.is_over_bytes ? Json{{"type", "ByteLevel"},
                                      {"add_prefix_space", true},
                                      {"trim_offsets", false},
                                      {"use_regex", true}}
                               : Json();
  }
  Json named = Json::object();
  const auto with = [&](Json& sequence, const std::vector<Token>& tokens, int type) {
    for (const Token token : tokens) {
      const std::string& name = parts.pieces[token];
      named[name] = {{"id", name}, {"ids", {token}}, {"tokens", {name}}};
      sequence.push_back({{"SpecialToken", {{"id", name}, {"type_id", type}}}});
    }
  };
  const auto text = [&](Json& sequence, const char* which, int type) {
    with(sequence, parts.before, type);
    sequence.push_back({{"Sequence", {{"id", which}, {"type_id", type}}}});
    with(sequence, parts.after, type);
  };
  Json single = Json::array();
  text(single, "A", 0);
  Json pair = single;
  text(pair, "B", 1);
  return {{"type", "TemplateProcessing"},
          {"single", std::move(single)},
          {"pair", std::move(pair)},
          {"special_tokens", std::move(named)}};
}

Json decoder_of(const TokenizerParts& parts) {
  if (parts.is_over_bytes) {
    return {{"type", "ByteLevel"},
            {"add_prefix_space", true},
            {"trim_offsets", true},
            {"use_regex", true}};
  }
  Json steps = Json::array();
  steps.push_back({{"type", "Replace"}, {"pattern", {{"String", kMark}}}, {"content", " "}});
  if (parts.has_byte_tokens) steps.push_back({{"type", "ByteFallback"}});
  steps.push_back({{"type", "Fuse"}});
  if (parts.prefix != Prefix::Never) {
    steps.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
  }
  return {{"type", "Sequence"}, {"decoders", std::move(steps)}};
}

}  // namespace

std::string write_tokenizer_json(const Tokenizer& tokenizer) {
  const TokenizerParts& parts = tokenizer.parts();
  const Json all{{"version", "1.0"},
                 {"truncation", nullptr},
                 {"padding", nullptr},
                 {"added_tokens", added_of(parts)},
                 {"normalizer", normalizer_of(parts)},
                 {"pre_tokenizer", pre_tokenizer_of(parts)},
                 {"post_processor", post_processor_of(parts)},
                 {"decoder", decoder_of(parts)},
                 {"model", model_of(parts, names_of(parts))}};
  return all.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace trireme::data::tokenizer
