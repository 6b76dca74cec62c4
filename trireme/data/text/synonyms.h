// Synonyms are words that may stand for each other, read from a file of the user's: a group a line,
// parted by commas.
//
//   # for reviews
//   quick, fast, swift
//   film, movie, motion picture
//
// Meaning: each word of a group may be replaced by any other of it; what has blanks in it only
//          replaces. Small and capital ASCII letters are alike when a word is looked up.
// Threads: constant; any thread.
// Failure: NotFound; Corrupt, with the line, for a group of one.

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
  // `name`: the file, for people.
  static Synonyms parse(std::string_view lines, const std::string& name);
  static Synonyms read(const std::filesystem::path& file);

  // The others of its groups; null where it is in none.
  const std::vector<std::string>* of(std::string_view word) const;
  // Every word and every replacement.
  std::vector<std::string> all() const;

 private:
  std::map<std::string, std::vector<std::string>, std::less<>> others_;
};

}  // namespace trireme::data::text
