#include <nlohmann/json.hpp>

#include "trireme/base/error.h"
#include "trireme/base/text/json_text.h"
#include "trireme/base/text/whole_number.h"
#include "trireme/data/tokenizer/files.h"
#include "trireme/data/tokenizer/piece_list.h"

namespace trireme::data::tokenizer {
namespace {

using Json = nlohmann::json;

// One file, read part by part. Unknown settings are rejected, because ignoring them could change
// the encoding.
class TokenizerFile {
 public:
  TokenizerFile(Json all, std::string name) : all_(std::move(all)), name_(std::move(name)) {}

  TokenizerParts read() {
    read_model();
    read_added();
    read_pre_tokenizer(part("pre_tokenizer"));
    read_normalizer(part("normalizer"));
    read_post_processor(part("post_processor"));
    if (parts_.is_over_bytes) to_bytes_of_letters(parts_, name_);
    return std::move(parts_);
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(ErrorCode::Unsupported, name_ + ": " + what);
  }

  Json part(const char* key) const { return all_.contains(key) ? all_.at(key) : Json(); }

  static std::string type_of(const Json& part) {
    return part.is_object() ? part.value("type", std::string()) : std::string();
  }

  static bool has(const Json& part, const char* key) {
    return part.contains(key) && part.at(key).is_boolean() && part.at(key).get<bool>();
  }

  void read_model() {
    const Json& model = all_.at("model");
    const std::string type = model.value("type", std::string("BPE"));
    if (type != "BPE") refuse("a model of kind " + type + "; only BPE is read");
    for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
      const Json affix = model.value(key, Json());
      if (affix.is_string() && !affix.get<std::string>().empty())
        refuse(std::string("model.") + key);
    }
    for (const auto& [piece, token] : model.at("vocab").items()) {
      list_.add(piece, whole_number<std::int64_t>(token, name_));
    }
    std::size_t index = 0;
    for (const Json& merge : model.at("merges")) {
      const std::string where = "merge " + std::to_string(index++);
      if (merge.is_string()) {
        list_.add_merge(merge.get<std::string>(), where);
      } else {
        list_.add_merge(merge.at(0).get<std::string>(), merge.at(1).get<std::string>(), where);
      }
    }
    has_byte_tokens_ = has(model, "byte_fallback");
    is_fused_ = has(model, "fuse_unk");
    is_whole_word_first_ = has(model, "ignore_merges");
    if (const Json name = model.value("unk_token", Json()); name.is_string()) {
      unknown_ = whole_number<Token>(model.at("vocab").at(name.get<std::string>()), name_);
    }
  }

  void read_added() {
    std::vector<Token> specials;
    for (const Json& token : part("added_tokens")) {
      const auto text = token.at("content").get<std::string>();
      for (const char* key : {"lstrip", "rstrip", "single_word"}) {
        if (has(token, key)) refuse("the token '" + text + "' with " + key);
      }
      list_.add(text, whole_number<std::int64_t>(token.at("id"), name_));
      specials.push_back(whole_number<Token>(token.at("id"), name_));
    }
    parts_ = std::move(list_).take();
    parts_.specials = std::move(specials);
    parts_.is_over_bytes = false;
    parts_.split = Split::Whole;
    parts_.has_byte_tokens = has_byte_tokens_;
    parts_.is_unknown_fused = is_fused_;
    parts_.is_whole_word_first = is_whole_word_first_;
    parts_.unknown = unknown_;
  }

  void read_pre_tokenizer(const Json& part) {
    const std::string type = type_of(part);
    if (type.empty()) return;
    if (type == "Sequence") {
      for (const Json& one : part.at("pretokenizers")) read_pre_tokenizer(one);
    } else if (type == "ByteLevel") {
      parts_.is_over_bytes = true;
      if (part.value("use_regex", true)) parts_.split = Split::Gpt2;
      if (has(part, "add_prefix_space")) parts_.prefix = Prefix::Always;
    } else if (type == "Split") {
      parts_.split = split_of(part);
    } else if (type == "Metaspace") {
      read_metaspace(part);
    } else {
      refuse("pre_tokenizer of kind " + type);
    }
  }

  Split split_of(const Json& part) const {
    const Json pattern = part.at("pattern");
    const std::string text =
        pattern.contains("Regex") ? pattern.at("Regex").get<std::string>() : std::string();
    const bool is_isolated = part.value("behavior", std::string()) == "Isolated";
    if (is_isolated && !has(part, "invert")) {
      for (const Split split : {Split::Llama3, Split::Qwen2, Split::Gpt2}) {
        if (text == pattern_of(split)) return split;
      }
    }
    refuse("a pre_tokenizer that splits by " + pattern.dump());
  }

  void read_metaspace(const Json& part) {
    if (part.value("replacement", std::string(kMark)) != kMark)
      refuse("Metaspace with another mark");
    const std::string old = part.value("add_prefix_space", true) ? "always" : "never";
    const std::string scheme = part.value("prepend_scheme", old);
    parts_.prefix = scheme == "never"   ? Prefix::Never
                    : scheme == "first" ? Prefix::First
                                        : Prefix::Always;
    if (part.value("split", true)) parts_.split = Split::Marks;
    are_blanks_marked_ = true;
  }

  void read_normalizer(const Json& part) {
    const std::string type = type_of(part);
    if (type == "Sequence") {
      for (const Json& one : part.at("normalizers")) read_normalizer(one);
    } else if (type == "Prepend" && part.value("prepend", std::string()) == kMark) {
      parts_.prefix = Prefix::EvenTwice;
    } else if (type == "Replace" && is_marking(part)) {
      are_blanks_marked_ = true;
    } else if (!type.empty()) {
      refuse("normalizer of kind " + type);
    }
    if (part == this->part("normalizer") && !parts_.is_over_bytes && !are_blanks_marked_) {
      refuse("tokens over characters without U+2581 for blanks");
    }
  }

  static bool is_marking(const Json& part) {
    const Json pattern = part.value("pattern", Json());
    return pattern.is_object() && pattern.value("String", std::string()) == " " &&
           part.value("content", std::string()) == kMark;
  }

  void read_post_processor(const Json& part) {
    const std::string type = type_of(part);
    if (type == "Sequence") {
      for (const Json& one : part.at("processors")) read_post_processor(one);
    } else if (type == "TemplateProcessing") {
      bool is_before = true;
      for (const Json& item : part.at("single")) {
        if (item.contains("Sequence")) {
          is_before = false;
          continue;
        }
        const auto id = item.at("SpecialToken").at("id").get<std::string>();
        for (const Json& token : part.at("special_tokens").at(id).at("ids")) {
          (is_before ? parts_.before : parts_.after).push_back(whole_number<Token>(token, name_));
        }
      }
    } else if (!type.empty() && type != "ByteLevel") {
      refuse("post_processor of kind " + type);
    }
  }

  Json all_;
  std::string name_;
  PieceList list_{name_};
  TokenizerParts parts_;
  bool has_byte_tokens_ = false;
  bool is_fused_ = false;
  bool is_whole_word_first_ = false;
  bool are_blanks_marked_ = false;
  std::optional<Token> unknown_;
};

}  // namespace

TokenizerParts read_tokenizer_json(std::string_view text, const std::string& name) {
  if (is_nested_deeper(text, kJsonDepthMax)) {
    throw Error(ErrorCode::Corrupt, name + ": is nested too deeply");
  }
  try {
    return TokenizerFile(Json::parse(text), name).read();
  } catch (const Json::exception& error) {
    throw Error(ErrorCode::Corrupt, name + ": " + error.what());
  }
}

}  // namespace trireme::data::tokenizer
