// Goal:   a text becomes windows of characters or bytes, numbered and split as in nanoGPT.
// Method: small texts written by hand; every prefix of a text with multi-byte characters.

#include "trireme/data/sequence/text_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/folders.h"
#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/data/sequence/encoded_row.h"
#include "trireme/data/sequence/plain_rows.h"
#include "trireme/data/sequence/text_config.h"
#include "trireme/data/sequence/token_row.h"
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
  static_assert(split_at(1115394, 0.1) == 1003854);  // the Shakespeare text, as nanoGPT prints it
  static_assert(split_at(10, 0) == 10);
  SUCCEED();
}

class TextFile : public ::testing::Test {
 protected:
  TextFile() { write_file_atomically(config_.file, "abcdefghijklmnopqrst"); }

  TemporaryFolder folder_{"text-test"};
  TextConfig config_{.file = folder_.path() / "input.txt", .context = 3, .validation = 0.25};
};

std::vector<std::int64_t> all_of(const TokenRow& row) {
  std::vector<std::int64_t> tokens(static_cast<std::size_t>(row.count()));
  row.read(0, row.count(), tokens.data());
  return tokens;
}

TEST_F(TextFile, NumbersCharactersByCodePoint) {
  write_file_atomically(config_.file, "b\xc3\xa4 a\nb\xe2\x82\xac");
  const TokenText text = read_text(config_);
  EXPECT_THAT(text.vocabulary, ElementsAre("\n", " ", "a", "b", "\xc3\xa4", "\xe2\x82\xac"));
  EXPECT_THAT(all_of(*text.row), ElementsAre(3, 4, 1, 2, 0, 3, 5));
}

TEST_F(TextFile, FindsCharactersByTheirIndex) {
  std::string content;
  for (int i = 0; i < 3 * CharacterRow::kIndexed + 1; ++i) content += i % 3 == 0 ? "\xc3\xa4" : "b";
  write_file_atomically(config_.file, content);
  const CharacterRow row(config_.file);
  const std::vector<std::int64_t> all = all_of(row);
  for (const std::int64_t first : {0L, 1L, 255L, 256L, 257L, 767L, 768L}) {
    std::vector<std::int64_t> some(static_cast<std::size_t>(row.count() - first));
    row.read(first, row.count() - first, some.data());
    EXPECT_EQ(some, std::vector(all.begin() + first, all.end()));
  }
  EXPECT_THROW(row.read(768, 2, nullptr), Error);
  row.read(769, 0, nullptr);
}

TEST_F(TextFile, TakesAnyBytes) {
  write_file_atomically(config_.file, "a\xff");
  config_.unit = Unit::Byte;
  const TokenText text = read_text(config_);
  EXPECT_THAT(all_of(*text.row), ElementsAre('a', 255));
  EXPECT_EQ(text.classes(), 256);
  EXPECT_EQ(text.vocabulary[255], "\xff");
}

TEST_F(TextFile, NamesTheOffsetOfWhatIsNoCharacter) {
  const std::string text = "ab\xe2\x82\xac";
  for (std::size_t size : {3, 4}) {
    write_file_atomically(config_.file, text.substr(0, size));
    try {
      read_text(config_);
      FAIL() << size;
    } catch (const Error& error) {
      EXPECT_THAT(error.message(), HasSubstr("input.txt: at byte 2"));
    }
  }
}

TEST_F(TextFile, IsEncodedInMemoryOrInAFileThatIsKept) {
  write_file_atomically(config_.file, "the end\n\nthe row\n");
  config_.tokenizer = source_folder() + "/tests/data/tokenizer/published/gpt2.json";
  config_.documents = tokenizer::Documents::Lines;
  config_.document_end = "<|endoftext|>";
  config_.are_documents_apart = true;
  const TokenText text = read_text(config_);
  std::string whole;
  for (const std::int64_t token : all_of(*text.row)) {
    whole += text.vocabulary[static_cast<std::size_t>(token)];
  }
  EXPECT_EQ(whole, "the end<|endoftext|>the row<|endoftext|>");
  EXPECT_EQ(text.document_end, 0);
  config_.cache = folder_.path() / "kept";
  for (int turn = 0; turn < 2; ++turn)
    EXPECT_EQ(all_of(*read_text(config_).row), all_of(*text.row));
  const auto kept = [&] {
    return std::distance(std::filesystem::directory_iterator(config_.cache), {});
  };
  EXPECT_EQ(kept(), 1);
  // Another text with the same name, size and modification time is another entry.
  TextConfig other = config_;
  other.file = folder_.path() / "other" / config_.file.filename();
  std::filesystem::create_directories(other.file.parent_path());
  write_file_atomically(other.file, "the row\n\nthe end\n");
  std::filesystem::last_write_time(other.file, std::filesystem::last_write_time(config_.file));
  EXPECT_NE(all_of(*read_text(other).row), all_of(*text.row));
  EXPECT_EQ(kept(), 2);
  // The same text in another place is the same entry.
  write_file_atomically(other.file, "the end\n\nthe row\n");
  EXPECT_EQ(all_of(*read_text(other).row), all_of(*text.row));
  EXPECT_EQ(kept(), 2);
  config_.documents = tokenizer::Documents::Text;
  EXPECT_NE(all_of(*read_text(config_).row), all_of(*text.row));
  EXPECT_EQ(kept(), 3);
  config_.validation = 0;
  const Form form = open_text(config_).train->form();
  EXPECT_EQ(form.classes, std::ssize(text.vocabulary));
  EXPECT_EQ(form.document_end, 0);
  EXPECT_NE(form.tokenizer, nullptr);
  config_.document_end = "<end>";
  EXPECT_THROW(read_text(config_), Error);
}

TEST_F(TextFile, TrainsOnEveryWindowAndEvaluatesEachTokenOnce) {
  const Sets sets = open_text(config_);
  EXPECT_EQ(sets.train->count(), 12);  // 15 characters, windows of 4
  EXPECT_EQ(sets.test->count(), 1);    // 5 characters; the next window would need a seventh
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
