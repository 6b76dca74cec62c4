// Synonyms are words that can replace each other, read from a file with one group per line,
// separated by commas.
//
//   # for reviews
//   quick, fast, swift
//   film, movie, motion picture
//
// Semantics:     each word of a group may be replaced by any other of the group; an entry that
//                contains blanks is used only as a replacement. Lookup ignores the case of ASCII
//                letters.
// Thread safety: immutable; any thread.
// Errors:        NotFound; Corrupt, with the line, for a group with one word.

#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace trireme::data::text {

class Synonyms {
 public:
  Synonyms() = default;
  // `name` is the file name, for messages.
  static Synonyms parse(std::string_view lines, const std::string& name);
  static Synonyms read(const std::filesystem::path& file);

  // The other words of its groups; null if it is in none.
  const std::vector<std::string>* of(std::string_view word) const;
  // Every word and every replacement.
  std::vector<std::string> all() const;

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> others_;
};

}  // namespace trireme::data::text
