// Goal:   words are dropped, swapped and replaced, and sentences reordered, at the configured rates
//         and depending only on seed, epoch and sample; nothing else in a text changes.
// Method: texts by hand for fractions 0 and 1; counts over many words in between; a source read
//         twice, in other orders and with other seeds.

#include "trireme/data/text/augment_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/folders.h"
#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/data/sequence/augmented_text.h"
#include "trireme/data/text/synonyms.h"
#include "trireme/data/tokenizer/tokenizer.h"

namespace trireme::data::text {
namespace {

using ::testing::HasSubstr;

std::string changed(const std::string& text, const TextChanges& changes,
                    const Synonyms& synonyms = {}, std::uint64_t seed = 1) {
  Random random(seed);
  return augment_text(text, changes, synonyms, random);
}

TEST(TextAugmentation, LeavesBlanksWhereTheyAre) {
  EXPECT_EQ(changed("", {.drop = 1}), "");
  EXPECT_EQ(changed(" \n", {.drop = 1}), " \n");
  EXPECT_EQ(changed("  a  b\nc ", {}), "  a  b\nc ");
  EXPECT_EQ(changed("  a  b\nc ", {.drop = 1}), "  ");
  EXPECT_EQ(changed("a  b\nc d", {.swap = 1}), "b  a\nd c");
  EXPECT_EQ(changed("a b c", {.swap = 1}), "b a c");
}

TEST(TextAugmentation, DropsTheShareThatIsAsked) {
  std::string text;
  for (int i = 0; i < 10000; ++i) text += "w ";
  const double left = static_cast<double>(changed(text, {.drop = 0.3}).size()) / 20000;
  EXPECT_NEAR(left, 0.7, 0.02);
}

TEST(TextAugmentation, ReplacesWordsByOthersOfTheirGroup) {
  const Synonyms synonyms =
      Synonyms::parse("# a comment\n\nquick, fast\n film , motion picture\r\n", "file");
  EXPECT_EQ(changed("Quick! (film), quickly QUICK.", {.synonym = 1}, synonyms),
            "Fast! (motion picture), quickly Fast.");
  EXPECT_EQ(changed("picture motion", {.synonym = 1}, synonyms), "picture motion");
  EXPECT_EQ(synonyms.of("none"), nullptr);
  try {
    Synonyms::parse("a, b\nalone,\n", "words.txt");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), HasSubstr("words.txt: line 2"));
  }
}

TEST(TextAugmentation, ReordersWholeSentencesButTheLast) {
  const std::string text = "One a. Two b! Three c? Four d. cut off";
  std::vector<std::string> seen;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const std::string other = changed(text, {.reorder = 1}, {}, seed);
    EXPECT_TRUE(other.ends_with(" cut off")) << other;
    for (const char* sentence : {"One a. ", "Two b! ", "Three c? ", "Four d. "}) {
      EXPECT_THAT(other, HasSubstr(sentence));
    }
    seen.push_back(other);
  }
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(std::unique(seen.begin(), seen.end()) - seen.begin(), 24) << "every order";
  EXPECT_EQ(changed("one", {.reorder = 1}), "one");
  EXPECT_EQ(changed("", {.reorder = 1}), "");
}

class AugmentedFile : public ::testing::Test {
 protected:
  AugmentedFile() {
    std::string text;
    for (int i = 0; i < 60; ++i) text += "the quick cat " + std::to_string(i) + " sat off. ";
    write_file_atomically(config_.file, text);
    write_file_atomically(config_.synonyms, "quick, fast\n");
  }

  static std::string read(const Source& source, std::int64_t sample, const SampleKey& key) {
    const auto length = static_cast<std::size_t>(source.form().input_sizes[0]);
    std::vector<std::int64_t> input(length), target(length);
    source.read(sample, key, input.data(), target.data());
    EXPECT_TRUE(std::equal(input.begin() + 1, input.end(), target.begin()));
    std::string text;
    input.push_back(target.back());
    for (const std::int64_t token : input) {
      text += source.form().class_names[static_cast<std::size_t>(token)];
    }
    return text;
  }

  TemporaryFolder folder_{"augmented-text"};
  sequence::TextConfig config_{.file = folder_.path() / "input.txt",
                               .context = 40,
                               .word_drop = 0.2,
                               .word_swap = 0.2,
                               .word_synonym = 0.5,
                               .synonyms = folder_.path() / "synonyms.txt",
                               .sentence_reorder = 0.5};
};

TEST_F(AugmentedFile, IsAFunctionOfSeedEpochAndSample) {
  const Sets sets = sequence::open_text(config_);
  ASSERT_EQ(sets.train->count(), sets.plain->count());
  int different = 0, fast = 0;
  for (std::int64_t sample = 0; sample < sets.train->count(); sample += 7) {
    const SampleKey key{.seed = 3, .epoch = 1, .sample = sample};
    const std::string once = read(*sets.train, sample, key);
    EXPECT_EQ(once, read(*sets.train, sample, key));
    different += once != read(*sets.train, sample, {.seed = 3, .epoch = 2, .sample = sample});
    different += once != read(*sets.train, sample, {.seed = 4, .epoch = 1, .sample = sample});
    fast += once.find("fast") != std::string::npos ? 1 : 0;
    EXPECT_EQ(read(*sets.plain, sample, key).find("fast"), std::string::npos);
  }
  EXPECT_GT(different, 100);
  EXPECT_GT(fast, 20);
  EXPECT_EQ(read(*sets.test, 0, {}).find("fast"), std::string::npos);
}

TEST_F(AugmentedFile, WorksOnBytesAndTokensToo) {
  config_.unit = sequence::Unit::Byte;
  EXPECT_EQ(read(*sequence::open_text(config_).train, 5, {}).size(), 41U);
  config_.tokenizer = source_folder() + "/tests/data/tokenizer/published/gpt2.json";
  config_.context = 12;
  const Sets sets = sequence::open_text(config_);
  int fast = 0;
  for (std::int64_t i = 0; i < 40; ++i) {
    fast += read(*sets.train, i, {.sample = i}).find(" fast") != std::string::npos ? 1 : 0;
  }
  EXPECT_GT(fast, 5);
}

TEST_F(AugmentedFile, RefusesSynonymsThatTheTextCannotHave) {
  write_file_atomically(config_.synonyms, "quick, \xc3\xa4\n");
  EXPECT_THROW(sequence::open_text(config_), Error);
}

}  // namespace
}  // namespace trireme::data::text
