// Goal:   data that changed in place are detected: statistics are taken from what was learned
//         before, and names that contradict it are rejected, with the file and the name.
// Method: small tables and texts, opened through a registry before and after a change.

#include "trireme/data/data_changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/folders.h"
#include "trireme/base/config/reader.h"
#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/data/kinds.h"
#include "trireme/data/registry.h"
#include "trireme/data/source/source.h"
#include "trireme/data/tokenizer/files.h"

namespace trireme::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ChangedData : public ::testing::Test {
 protected:
  ChangedData() { add_kinds(registry_); }

  void write(const std::string& text) { write_file_atomically(folder_.path() / "data", text); }
  Sets open(const Preprocessing* known = nullptr) const {
    config::Schema schema;
    registry_.add_sections(schema);
    return registry_.open(
        config::read_config(schema, {.files = {{"t.toml", "[data]\n" + settings_}}}), known);
  }
  // What a checkpoint records about the data.
  Preprocessing learned() const { return Preprocessing::from_json(open().preprocessing.to_json()); }
  std::string refusal(const Preprocessing& known) const {
    try {
      open(&known);
      return "";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::InvalidInput);
      return error.message();
    }
  }
  void use_table(const std::string& more) {
    settings_ = "kind = \"csv\"\ntrain = \"" + (folder_.path() / "data").string() +
                "\"\ntest_fraction = 0.0\n" + more;
  }

  TemporaryFolder folder_{"changed-data"};
  DataRegistry registry_;
  std::string settings_;
};

TEST_F(ChangedData, StatisticsAreThoseThatWereLearnedFirst) {
  use_table("task = \"regression\"\ntargets = [\"y\"]\ncategories = [\"town\"]\n");
  write("x,town,y\n1,A,10\n3,B,30\n");
  const Preprocessing known = learned();
  EXPECT_THAT(open(&known).notes, ::testing::SizeIs(1)) << "nothing but the target's standard";
  write("town,x,y\nA,101,10\nA,103,70\n");
  const Sets sets = open(&known);
  float input[3], target = 0;
  sets.train->read(0, {}, input, &target);
  EXPECT_THAT(input, ElementsAre(99, 1, 0)) << "mean 2 and deviation 1, in the old order";
  EXPECT_EQ(target, -1);
  EXPECT_THAT(sets.notes.back(), HasSubstr("column \"x\" had mean 2, now 102"));
  EXPECT_THAT(sets.notes.back(), HasSubstr("column \"town\" no longer has the category \"B\""));
  EXPECT_THAT(sets.notes.back(), HasSubstr("what the checkpoint has is used"));
  EXPECT_EQ(sets.preprocessing.to_json(), known.to_json()) << "the next checkpoint says the same";
}

TEST_F(ChangedData, NewNamesInATableAreRefused) {
  use_table("targets = [\"y\"]\ncategories = [\"town\"]\n");
  write("x,town,y\n1,A,cat\n3,B,dog\n");
  const Preprocessing known = learned();
  write("x,town,y\n1,A,cat\n3,B,bird\n3,B,fish\n");
  EXPECT_THAT(refusal(known), HasSubstr((folder_.path() / "data").string() +
                                        " has changed since the job was trained: column \"y\" has "
                                        "the new classes \"bird\", \"fish\". "));
  EXPECT_THAT(refusal(known), HasSubstr("restore the data, or begin a new job"));
  write("x,town,y\n1,A,cat\n3,C,dog\n");
  EXPECT_THAT(refusal(known), HasSubstr("column \"town\" has the new category \"C\""));
  write("z,town,y\n1,A,cat\n3,B,dog\n");
  EXPECT_THAT(refusal(known), HasSubstr("it has the new column \"z\"; it no longer has the column "
                                        "\"x\""));
  write("x,town,y\n1,A,cat\n3,B,cat\n");
  EXPECT_EQ(open(&known).train->form().classes, 2) << "a class that no row has any more stays";
}

TEST_F(ChangedData, AnotherVocabularyIsRefused) {
  settings_ = "kind = \"text\"\nfile = \"" + (folder_.path() / "data").string() +
              "\"\nseq_len = 2\nvalidation_fraction = 0.0\n";
  write("abcabc");
  const Preprocessing known = learned();
  write("bbcaaa");
  EXPECT_EQ(refusal(known), "");
  write("abcabx");
  EXPECT_THAT(refusal(known), HasSubstr("there is the new token \"x\""));
  write("ababab");
  EXPECT_THAT(refusal(known), HasSubstr("there is no longer the token \"c\""));
}

TEST(DataChanges, TokenizersAreComparedByWhatTheyDo) {
  const std::filesystem::path published =
      std::filesystem::path(source_folder()) / "tests/data/tokenizer/published";
  const auto record_of = [&](const char* name) {
    const auto tokenizer = tokenizer::open_tokenizer(published / name);
    return Preprocessing{.source = {.classes = 480, .tokenizer = tokenizer},
                         .form = {.classes = 480, .tokenizer = tokenizer}};
  };
  for (const char* name : {"gpt2.json", "llama2.json", "llama3.json", "mistral.json"}) {
    const Preprocessing now = record_of(name);
    const Preprocessing known = Preprocessing::from_json(now.to_json());
    EXPECT_THAT(changes_between(known, now).names, IsEmpty()) << name;
  }
  EXPECT_THAT(changes_between(record_of("gpt2.json"), record_of("llama3.json")).names,
              ElementsAre("data.tokenizer is another tokenizer"));
}

TEST(DataChanges, SizesAndOrdersOfClassesCount) {
  const Preprocessing pictures{.source = {.input_sizes = {1, 4, 4}, .class_names = {"a", "b"}}};
  Preprocessing other = pictures;
  EXPECT_THAT(changes_between(pictures, other).names, IsEmpty());
  other.source.are_bad_samples_skipped = true;
  EXPECT_THAT(changes_between(pictures, other).names, IsEmpty()) << "that may change at any time";
  other.source.class_names = {"b", "a"};
  other.source.input_sizes = {1, 8, 8};
  EXPECT_THAT(changes_between(pictures, other).names,
              ElementsAre("samples have other sizes or types", "the classes have another order"));
  EXPECT_EQ(joined({"a", "b"}), "a; b");
}

}  // namespace
}  // namespace trireme::data
