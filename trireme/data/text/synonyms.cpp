#include "trireme/data/text/synonyms.h"

#include <algorithm>

#include "trireme/base/error.h"
#include "trireme/base/file/file.h"

namespace trireme::data::text {
namespace {

constexpr std::string_view kSynonymBlanks = " \t\r";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kSynonymBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSynonymBlanks) - first + 1);
}

std::string lowered(std::string_view word) {
  std::string text(word);
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

std::vector<std::string> group_in(std::string_view line) {
  std::vector<std::string> group;
  while (true) {
    const std::size_t comma = line.find(',');
    const std::string_view word = trimmed(line.substr(0, comma));
    if (!word.empty()) group.emplace_back(word);
    if (comma == std::string_view::npos) return group;
    line.remove_prefix(comma + 1);
  }
}

}  // namespace

Synonyms Synonyms::parse(std::string_view lines, const std::string& name) {
  Synonyms synonyms;
  for (int number = 1; !lines.empty(); ++number) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    const std::string_view line = trimmed(lines.substr(0, end));
    lines.remove_prefix(std::min(end + 1, lines.size()));
    if (line.empty() || line.starts_with('#')) continue;
    const std::vector<std::string> group = group_in(line);
    if (group.size() < 2) {
      throw Error(ErrorCode::Corrupt, name + ": line " + std::to_string(number) +
                                          ": a group has at least two words, parted by commas");
    }
    for (const std::string& word : group) {
      if (word.find_first_of(kSynonymBlanks) != std::string::npos) continue;
      for (const std::string& other : group) {
        if (other != word) synonyms.others_[lowered(word)].push_back(other);
      }
    }
  }
  return synonyms;
}

Synonyms Synonyms::read(const std::filesystem::path& file) {
  return parse(read_file(file), file.string());
}

const std::vector<std::string>* Synonyms::of(std::string_view word) const {
  const auto found = others_.find(lowered(word));
  return found == others_.end() ? nullptr : &found->second;
}

std::vector<std::string> Synonyms::all() const {
  std::vector<std::string> words;
  for (const auto& [word, others] : others_)
    words.insert(words.end(), others.begin(), others.end());
  return words;
}

}  // namespace trireme::data::text
