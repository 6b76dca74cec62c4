// Goal:   a text becomes windows of characters or bytes, numbered and split as nanoGPT does it.
// Method: small texts written out by hand; every prefix of a text of long characters.

#include "trireme/data/sequence/text_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/error.h"
#include "trireme/base/file.h"
#include "trireme/base/temporary_folder.h"
#include "trireme/data/sequence/text_config.h"
#include "trireme/data/sequence/windows.h"

namespace trireme::data::sequence {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Windows, CountsAndSplits) {
  static_assert(count_windows(0, 4, 1) == 0);
  static_assert(count_windows(4, 4, 1) == 0);
  static_assert(count_windows(5, 4, 1) == 1);
  static_assert(count_windows(6, 4, 1) == 2);
  static_assert(count_windows(8, 4, 4) == 1);
  static_assert(count_windows(9, 4, 4) == 2);
  static_assert(split_at(1115394, 0.1) == 1003854);  // Shakespeare's, as nanoGPT prints it
  static_assert(split_at(10, 0) == 10);
  SUCCEED();
}

TEST(Tokenize, NumbersCharactersByCodePoint) {
  const TokenText text = tokenize("b\xc3\xa4 a\nb\xe2\x82\xac", Unit::Character, "x");
  EXPECT_THAT(text.vocabulary, ElementsAre("\n", " ", "a", "b", "\xc3\xa4", "\xe2\x82\xac"));
  EXPECT_THAT(text.tokens, ElementsAre(3, 4, 1, 2, 0, 3, 5));
}

TEST(Tokenize, TakesAnyBytes) {
  const TokenText text = tokenize("a\xff", Unit::Byte, "x");
  EXPECT_THAT(text.tokens, ElementsAre('a', 255));
  EXPECT_EQ(text.classes(), 256);
  EXPECT_EQ(text.vocabulary[255], "\xff");
}

TEST(Tokenize, NamesTheOffsetOfWhatIsNoCharacter) {
  const std::string text = "ab\xe2\x82\xac";
  EXPECT_NO_THROW(tokenize(text.substr(0, 2), Unit::Character, "x.txt"));
  for (std::size_t size : {3, 4}) {
    try {
      tokenize(text.substr(0, size), Unit::Character, "x.txt");
      FAIL() << size;
    } catch (const Error& error) {
      EXPECT_THAT(error.message(), HasSubstr("x.txt: at byte 2"));
    }
  }
}

class TextFile : public ::testing::Test {
 protected:
  TextFile() { write_file_atomically(config_.file, "abcdefghijklmnopqrst"); }

  TemporaryFolder folder_{"text-test"};
  TextConfig config_{.file = folder_.path() / "input.txt", .context = 3, .validation = 0.25};
};

TEST_F(TextFile, TrainsOnEveryWindowAndEvaluatesEachTokenOnce) {
  const Sets sets = open_text(config_);
  EXPECT_EQ(sets.train->count(), 12);  // 15 characters, windows of 4
  EXPECT_EQ(sets.test->count(), 1);    // 5 characters, the next window would want a seventh
  EXPECT_EQ(sets.train->form().classes, 20);
  EXPECT_EQ(sets.test->form().class_names[19], "t");
  std::int64_t input[3];
  std::int64_t target[3];
  sets.train->read(11, {}, input, target);
  EXPECT_THAT(input, ElementsAre(11, 12, 13));
  EXPECT_THAT(target, ElementsAre(12, 13, 14));
  sets.test->read(0, {}, input, target);
  EXPECT_THAT(input, ElementsAre(15, 16, 17));
  EXPECT_THROW(sets.test->read(1, {}, input, target), Error);
}

TEST_F(TextFile, CanDoWithoutValidation) {
  config_.validation = 0;
  const Sets sets = open_text(config_);
  EXPECT_EQ(sets.test, nullptr);
  EXPECT_EQ(sets.train->count(), 17);
}

TEST_F(TextFile, SaysWhatIsTooShortOrMissing) {
  config_.context = 5;
  try {
    open_text(config_);
    FAIL() << "the validation part has no window";
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), HasSubstr("5 of its 20 tokens are fewer"));
  }
  config_.file = "/nowhere.txt";
  EXPECT_THROW(open_text(config_), Error);
  config_.file.clear();
  EXPECT_THROW(open_text(config_), Error);
}

}  // namespace
}  // namespace trireme::data::sequence
