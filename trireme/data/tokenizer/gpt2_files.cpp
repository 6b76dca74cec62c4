#include <nlohmann/json.hpp>

#include "trireme/base/check.h"
#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/data/tokenizer/byte_letters.h"
#include "trireme/data/tokenizer/files.h"
#include "trireme/data/tokenizer/piece_list.h"

namespace trireme::data::tokenizer {
namespace {

namespace fs = std::filesystem;
using OrderedJson = nlohmann::ordered_json;

fs::path first_there(const fs::path& folder, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (fs::is_regular_file(folder / name)) return folder / name;
  }
  return {};
}

fs::path vocabulary_in(const fs::path& folder) {
  return first_there(folder, {"vocab.json", "encoder.json"});
}

fs::path merges_in(const fs::path& folder) {
  return first_there(folder, {"merges.txt", "vocab.bpe"});
}

[[noreturn]] void fail_to_find(const fs::path& path) {
  throw Error(ErrorCode::NotFound, path.string() +
                                       " holds no tokenizer: neither tokenizer.json nor vocab.json "
                                       "with merges.txt");
}

}  // namespace

TokenizerParts read_gpt2(std::string_view vocabulary, std::string_view merges,
                         const std::string& name) {
  PieceList list(name);
  for (const auto& [piece, token] : parse_pieces(vocabulary, name)) list.add(piece, token);
  std::size_t line = 0;
  while (!merges.empty()) {
    const std::size_t end = std::min(merges.find('\n'), merges.size());
    std::string_view text = merges.substr(0, end);
    merges.remove_prefix(std::min(end + 1, merges.size()));
    ++line;
    if (text.ends_with('\r')) text.remove_suffix(1);
    if (text.empty() || (line == 1 && text.starts_with("#version"))) continue;
    list.add_merge(text, "line " + std::to_string(line));
  }
  TokenizerParts parts = std::move(list).take();
  for (std::size_t i = 0; i < parts.pieces.size(); ++i) {
    if (parts.pieces[i] == kEndOfText) parts.specials.push_back(static_cast<Token>(i));
  }
  to_bytes_of_letters(parts, name);
  return parts;
}

bool has_tokenizer(const fs::path& folder) {
  return !first_there(folder, {"tokenizer.json"}).empty() ||
         (!vocabulary_in(folder).empty() && !merges_in(folder).empty());
}

std::shared_ptr<const Tokenizer> open_tokenizer(const fs::path& path) {
  if (!fs::exists(path)) throw Error(ErrorCode::NotFound, path.string() + " does not exist");
  const bool is_folder = fs::is_directory(path);
  const fs::path folder = is_folder ? path : path.parent_path();
  const fs::path vocabulary = vocabulary_in(folder);
  const fs::path merges = merges_in(folder);
  const bool is_pair = !is_folder && (path == vocabulary || path == merges);
  const fs::path whole = is_folder ? folder / "tokenizer.json" : path;
  if (!is_pair && fs::is_regular_file(whole)) {
    return std::make_shared<const Tokenizer>(read_tokenizer_json(read_file(whole), whole.string()));
  }
  if (vocabulary.empty() || merges.empty()) fail_to_find(path);
  return std::make_shared<const Tokenizer>(
      read_gpt2(read_file(vocabulary), read_file(merges), folder.string()));
}

void save_gpt2(const Tokenizer& tokenizer, const fs::path& folder) {
  const TokenizerParts& parts = tokenizer.parts();
  TRIREME_CHECK(parts.is_over_bytes, "GPT-2's files are of tokens over bytes");
  std::vector<bool> is_special(parts.pieces.size());
  for (const Token token : parts.specials) is_special[token] = true;
  OrderedJson vocabulary = OrderedJson::object();
  std::vector<std::string> names;
  for (std::size_t i = 0; i < parts.pieces.size(); ++i) {
    names.push_back(is_special[i] ? parts.pieces[i] : to_letters(parts.pieces[i]));
    vocabulary[names.back()] = i;
  }
  std::string merges = "#version: 0.2\n";
  for (const Merge& merge : parts.merges) {
    merges += names[merge.left] + " " + names[merge.right] + "\n";
  }
  fs::create_directories(folder);
  write_file_atomically(folder / "vocab.json", vocabulary.dump());
  write_file_atomically(folder / "merges.txt", merges);
}

}  // namespace trireme::data::tokenizer
