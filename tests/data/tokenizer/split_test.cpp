// Goal:   characters have Unicode's categories, and texts are split as the patterns define.
// Method: examples by hand at the boundaries of each; published_test.cpp compares with other
//         programs. Merging is compared with the plain rule, pair by pair.

#include "trireme/data/tokenizer/split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/base/random.h"
#include "trireme/data/tokenizer/merges.h"
#include "trireme/data/tokenizer/token_file.h"
#include "trireme/data/tokenizer/tokenizer.h"
#include "trireme/data/tokenizer/unicode.h"

namespace trireme::data::tokenizer {
namespace {

using ::testing::ElementsAre;

TEST(UnicodeCategories, AreThoseOfTheTables) {
  for (const char32_t letter : {U'a', U'Z', U'ß', U'é', U'Ж', U'三', U'𝔘', U'ª'}) {
    EXPECT_EQ(category_of(letter), Category::Letter) << static_cast<std::uint32_t>(letter);
  }
  for (const char32_t number : {U'0', U'9', U'½', U'²', U'Ⅷ', U'٣'}) {
    EXPECT_EQ(category_of(number), Category::Number) << static_cast<std::uint32_t>(number);
  }
  for (const char32_t space : {U' ', U'\n', U'\u0085', U'\u00a0', U'\u3000', U'\u200a'}) {
    EXPECT_EQ(category_of(space), Category::Space) << static_cast<std::uint32_t>(space);
  }
  for (const char32_t other : {U'@', U'[', U'`', U'{', U'\u200b', U'\u0301', U'€', U'\x1c'}) {
    EXPECT_EQ(category_of(other), Category::Other) << static_cast<std::uint32_t>(other);
  }
}

TEST(UnicodeCharacters, AreWrittenAsTheyAreRead) {
  for (const char32_t code : {0x0U, 0x7FU, 0x80U, 0x7FFU, 0x800U, 0xFFFFU, 0x10000U, 0x10FFFFU}) {
    std::string text;
    append_utf8(text, code);
    EXPECT_EQ(first_character(text).code, code);
    EXPECT_EQ(first_character(text).size, text.size());
  }
  EXPECT_EQ(first_character("\xc3(").size, 1U);
  EXPECT_EQ(first_character("\xc3").category, Category::Other);
}

std::vector<std::string> pieces(std::string_view text, Split split) {
  std::vector<std::string> all;
  while (!text.empty()) {
    const std::size_t size = first_piece(text, split);
    all.emplace_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return all;
}

TEST(SplitPattern, OfGpt2KeepsABlankWithItsWord) {
  EXPECT_THAT(pieces("I've  got 12 x's!", Split::Gpt2),
              ElementsAre("I", "'ve", " ", " got", " 12", " x", "'s", "!"));
  EXPECT_THAT(pieces("a \n\n b  ", Split::Gpt2), ElementsAre("a", " \n\n", " b", "  "));
  EXPECT_THAT(pieces("'S", Split::Gpt2), ElementsAre("'", "S"));
  EXPECT_THAT(pieces("a\xff b", Split::Gpt2), ElementsAre("a", "\xff", " b"));
}

TEST(SplitPattern, OfLlama3CutsNumbersAndKeepsLineEnds) {
  EXPECT_THAT(pieces("I'VE 12345 (x) y!\n\n z", Split::Llama3),
              ElementsAre("I", "'VE", " ", "123", "45", " (", "x", ")", " y", "!\n\n", " z"));
  EXPECT_THAT(pieces("a \n \n  b", Split::Llama3), ElementsAre("a", " \n \n", " ", " b"));
  EXPECT_THAT(pieces("123", Split::Qwen2), ElementsAre("1", "2", "3"));
  EXPECT_THAT(pieces("\na\tb", Split::Llama3), ElementsAre("\n", "a", "\tb"));
}

TEST(SplitPattern, OfMarksBeginsAtEach) {
  EXPECT_THAT(pieces("\u2581a\u2581\u2581b", Split::Marks),
              ElementsAre("\u2581a", "\u2581", "\u2581b"));
  EXPECT_THAT(pieces("a b", Split::Whole), ElementsAre("a b"));
}

// The rule by definition: the best pair of all, the leftmost of equal ones.
std::vector<Token> merged_plainly(std::vector<Token> word, const std::vector<Merge>& merges) {
  while (true) {
    std::size_t best = merges.size(), at = 0;
    for (std::size_t i = 0; i + 1 < word.size(); ++i) {
      for (std::size_t rank = 0; rank < best; ++rank) {
        if (merges[rank].left == word[i] && merges[rank].right == word[i + 1]) {
          best = rank;
          at = i;
        }
      }
    }
    if (best == merges.size()) return word;
    word[at] = merges[best].result;
    word.erase(word.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  }
}

TEST(MergesOfAWord, GoByRankAndPlace) {
  std::vector<Merge> all;
  Random random(7);
  for (Token result = 3; result < 40; ++result) {
    const auto draw = [&] { return static_cast<Token>(random.below(result)); };
    const Merge merge{.left = draw(), .right = draw(), .result = result};
    const auto is_same = [&](const Merge& m) {
      return m.left == merge.left && m.right == merge.right;
    };
    if (std::ranges::none_of(all, is_same)) all.push_back(merge);
  }
  const Merges merges(all);
  EXPECT_EQ(merges.count(), all.size());
  for (const std::size_t size : {0, 1, 2, 3, 17, 200}) {
    for (int turn = 0; turn < 20; ++turn) {
      std::vector<Token> word(size);
      for (Token& token : word) token = static_cast<Token>(random.below(3));
      const std::vector<Token> expected = merged_plainly(word, all);
      merges.apply(word);
      ASSERT_EQ(word, expected) << size;
    }
  }
}

TEST(FileOfTokens, HasItsNameWhenItIsWhole) {
  const TemporaryFolder folder("token-file");
  const auto path = folder.path() / "x.bin";
  const std::vector<Token> tokens{1, 65535, 7};
  {
    TokenFile unfinished(path, 65536);
    unfinished.add(tokens);
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  for (const std::size_t vocabulary : {65536, 65537}) {
    TokenFile file(path, vocabulary);
    file.add(tokens);
    file.finish();
    EXPECT_EQ(read_file(path).size(), 3 * token_width(vocabulary));
  }
  EXPECT_EQ(read_file(path).substr(4, 4), std::string("\xff\xff\0\0", 4));
}

}  // namespace
}  // namespace trireme::data::tokenizer
