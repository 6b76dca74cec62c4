// Goal:   what a checkpoint records about the data is restored unchanged and opens other data the
//         same way: sizes, names with any bytes, tokenizers, columns of a table.
// Method: records of small tables, texts and published tokenizers, written and read again; each of
//         their values replaced.

#include "trireme/data/preprocessing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/folders.h"
#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/data/sequence/text_source.h"
#include "trireme/data/table/fit.h"
#include "trireme/data/table/table_set.h"
#include "trireme/data/table/table_source.h"
#include "trireme/data/tokenizer/files.h"
#include "trireme/testing/code_of.h"

namespace trireme::data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Preprocessing again(const Preprocessing& known) {
  return Preprocessing::from_json(known.to_json());
}

TEST(Preprocessing, FormsComeBackWithNamesOfAnyBytes) {
  Preprocessing known{.source = {.input_sizes = {3, 8, 8}, .classes = 2},
                      .form = {.input_sizes = {3, 4, 4},
                               .target_sizes = {2},
                               .target_type = at::kFloat,
                               .classes = 3,
                               .class_names = {"caf\xe9", "\xc3\xa9\n", ""},
                               .document_end = 2,
                               .tasks = {{"class", 2}, {"mean", 0}}},
                      .class_counts = {5, 0, 1}};
  const Preprocessing read = again(known);
  EXPECT_EQ(read.source.input_sizes, known.source.input_sizes);
  EXPECT_EQ(read.source.classes, 2);
  EXPECT_EQ(read.form.target_type, at::kFloat);
  EXPECT_EQ(read.form.class_names, known.form.class_names);
  EXPECT_EQ(read.form.document_end, 2);
  ASSERT_EQ(read.form.tasks.size(), 2U);
  EXPECT_EQ(read.form.tasks[0].name, "class");
  EXPECT_EQ(read.form.tasks[0].classes, 2);
  EXPECT_THAT(read.class_counts, ElementsAre(5, 0, 1));
  EXPECT_FALSE(read.table.has_value());
  for (const at::ScalarType type : {at::kShort, at::kChar, at::kInt, at::kHalf, at::kBool}) {
    known.form.input_type = type;
    EXPECT_EQ(again(known).form.input_type, type) << "of a source of somebody's own";
  }
  for (const char* wrong : {"", "[]", "{}", R"({"source":{},"form":{}})"}) {
    EXPECT_EQ(testing::code_of([&] { Preprocessing::from_json(wrong); }), ErrorCode::Corrupt)
        << wrong;
  }
}

TEST(Preprocessing, StandardsAndFillingsOfTablesComeBack) {
  const TemporaryFolder folder("preprocessing");
  const auto write = [&](const std::string& name, const std::string& text) {
    write_file_atomically(folder.path() / name, text);
    return folder.path() / name;
  };
  table::CsvConfig config;
  config.train = write("train.csv", "size,colour,price\n1,red,100\n3,,300\n-,red,200\n");
  config.test_fraction = 0;
  config.categories = {"colour"};
  config.targets = {"price"};
  config.task = table::TableTask::Regression;
  config.missing = "mean";
  config.missing_values = {"", "-"};
  const Sets sets = table::open_csv(config);
  Preprocessing learned = sets.preprocessing;
  learned.source = learned.form = sets.train->form();
  learned.form.are_bad_samples_skipped = true;
  const Preprocessing known = again(learned);
  EXPECT_EQ(known.form.target_standards, learned.form.target_standards);
  EXPECT_TRUE(known.form.are_bad_samples_skipped);
  EXPECT_EQ(known.table->targets[0].standard, learned.form.target_standards[0]);
  const Inputs inputs =
      table::csv_opener().open_inputs(config, known, write("new.csv", "colour,size\n-,-\nred,3\n"));
  float numbers[3], target = 0;
  inputs.source->read(0, {}, numbers, &target);
  EXPECT_THAT(numbers, ElementsAre(0, 1, 0)) << "the mean, and the category of gaps";
  inputs.source->read(1, {}, numbers, &target);
  EXPECT_THAT(numbers, ElementsAre(1, 0, 1));
}

// Every value of the record in turn is something else.
void expect_readable_or_corrupt(nlohmann::json& whole, nlohmann::json& part) {
  for (const char* other : {"null", "-1", "[]", "{}", "\"x\"", "1e300", "9223372036854775807"}) {
    const nlohmann::json before = std::exchange(part, nlohmann::json::parse(other));
    try {
      Preprocessing::from_json(whole.dump());
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Corrupt) << whole.dump();
    }
    part = before;
  }
  if (!part.is_structured()) return;
  for (nlohmann::json& inner : part) expect_readable_or_corrupt(whole, inner);
}

TEST(Preprocessing, ARecordWithAnyOtherValueIsReadOrCorrupt) {
  const TemporaryFolder folder("preprocessing");
  write_file_atomically(folder.path() / "t.csv", "size,colour,price\n1,red,100\n3,blue,300\n");
  table::CsvConfig config;
  config.train = folder.path() / "t.csv";
  config.test_fraction = 0;
  config.categories = {"colour"};
  config.targets = {"price"};
  config.task = table::TableTask::Regression;
  Sets sets = table::open_csv(config);
  sets.preprocessing.source = sets.preprocessing.form = sets.train->form();
  auto json = nlohmann::json::parse(sets.preprocessing.to_json());
  EXPECT_NO_THROW(Preprocessing::from_json(json.dump()));
  expect_readable_or_corrupt(json, json);
  json["class_counts"] = {3, -4};
  EXPECT_EQ(testing::code_of([&] { Preprocessing::from_json(json.dump()); }), ErrorCode::Corrupt);
}

TEST(Preprocessing, TablesAreReadByWhatWasLearnedFromTheTrainingRows) {
  const TemporaryFolder folder("preprocessing");
  const auto write = [&](const std::string& name, const std::string& text) {
    write_file_atomically(folder.path() / name, text);
    return folder.path() / name;
  };
  table::CsvConfig config;
  config.train = write("train.csv", "size,colour,kind\n1,red,b\n3,blue,a\n1,red,b\n3,green,a\n");
  config.test_fraction = 0;
  config.categories = {"colour"};
  config.targets = {"kind"};
  Sets sets = table::open_csv(config);
  sets.preprocessing.source = sets.train->form();
  const Preprocessing known = again(sets.preprocessing);
  std::filesystem::remove(config.train);
  const auto opener = table::csv_opener();

  // With other statistics, the columns in another order, and an additional column.
  config.test = write("test.csv", "kind,more,colour,size\na,x,green,5\n");
  const auto test = opener.open_test(config, known);
  float input[4];
  std::int64_t label = -1;
  test->read(0, {}, input, &label);
  EXPECT_THAT(input, ElementsAre(3, 0, 1, 0));
  EXPECT_EQ(label, 0);

  const auto inputs =
      opener.open_inputs(config, known, write("new.csv", "size,colour\n\n2,blue\n"));
  EXPECT_EQ(inputs.source->count(), 1);
  EXPECT_THAT(inputs.names, ElementsAre("3"));
  inputs.source->read(0, {}, input, &label);
  EXPECT_THAT(input, ElementsAre(0, 1, 0, 0));
  const auto lines =
      opener.open_inputs(config, known, write("new.jsonl", "{\"colour\":\"red\",\"size\":2}\n"));
  lines.source->read(0, {}, input, &label);
  EXPECT_THAT(input, ElementsAre(0, 0, 0, 1)) << "JSON lines of a model trained on CSV";
  EXPECT_EQ(
      testing::code_of([&] { opener.open_inputs(config, known, write("less.csv", "size\n2\n")); }),
      ErrorCode::InvalidInput);
}

// Samples are read into buffers of the sizes and types that the record says, and the rows of a
// table have those of its columns.
TEST(Preprocessing, RecordsThatContradictThemselvesAreRefused) {
  const TemporaryFolder folder("preprocessing");
  table::CsvConfig config;
  config.train = folder.path() / "train.csv";
  write_file_atomically(config.train, "size,weight,kind,price\n1,5,a,10\n3,6,b,20\n");
  config.test_fraction = 0;
  config.targets = {"kind", "price"};
  config.task = table::TableTask::Multitask;
  config.class_targets = {"kind"};
  const Sets sets = table::open_csv(config);
  Preprocessing learned = sets.preprocessing;
  learned.source = learned.form = sets.train->form();
  const auto several = nlohmann::json::parse(learned.to_json());
  config.task = table::TableTask::Classification;
  config.targets = {"kind"};
  config.class_targets = {};
  const Sets labelled = table::open_csv(config);
  learned = labelled.preprocessing;
  learned.source = learned.form = labelled.train->form();
  const auto classes = nlohmann::json::parse(learned.to_json());
  EXPECT_NO_THROW(Preprocessing::from_json(several.dump()));
  EXPECT_NO_THROW(Preprocessing::from_json(classes.dump()));

  struct Case {
    const nlohmann::json* record;
    const char* place;
    const char* value;
  };
  const Case cases[] = {{&several, "/source/input_type", R"("uint8")"},
                        {&several, "/source/input_sizes", "[1]"},
                        {&several, "/source/input_sizes", "[1, 2]"},
                        {&several, "/source/target_type", R"("uint8")"},
                        {&several, "/source/target_sizes", "[0]"},
                        {&several, "/source/target_sizes", "[]"},
                        {&several, "/source/target_standards", R"([{"mean":0,"deviation":1}])"},
                        {&several, "/form/target_standards", R"([{"mean":0,"deviation":1}])"},
                        {&several, "/form/tasks", R"([{"name":"a","classes":0}])"},
                        {&several, "/form/tasks/0/classes", "-1"},
                        {&several, "/form/input_sizes", "[-2]"},
                        {&several, "/form/input_sizes", "[1.5]"},
                        {&several, "/form/input_sizes", "[1e300]"},
                        {&several, "/form/input_sizes", "[18446744073709551615]"},
                        {&several, "/form/input_sizes", "[4294967296, 4294967296, 2]"},
                        {&several, "/form/input_sizes", "[0, 9223372036854775807, 3]"},
                        {&classes, "/source/input_type", R"("float64")"},
                        {&classes, "/source/target_sizes", "[0]"},
                        {&classes, "/source/target_sizes", "[2]"},
                        {&classes, "/source/target_type", R"("uint8")"},
                        {&classes, "/source/classes", "-1"},
                        {&classes, "/source/classes", "0"},
                        {&classes, "/source/classes", "3"},
                        {&several, "/source/target_standards/0/deviation", "0"},
                        {&several, "/table/inputs/0/standard/deviation", "-1"},
                        {&classes, "/form/document_end", "2"},
                        {&classes, "/form/class_names", R"(["a"])"},
                        {&classes, "/class_counts", "[1, 1, 1]"}};
  for (const Case& one : cases) {
    nlohmann::json crafted = *one.record;
    crafted[nlohmann::json::json_pointer(one.place)] = nlohmann::json::parse(one.value);
    EXPECT_EQ(testing::code_of([&] { Preprocessing::from_json(crafted.dump()); }),
              ErrorCode::Corrupt)
        << one.place << " = " << one.value;
  }
}

TEST(TableSource, HasRowsOfTheTypesThatItWrites) {
  const auto code_of_form = [](const Form& form) {
    return testing::code_of(
        [&] { table::TableSource({.inputs = {1, 2}, .values = {}, .classes = {0}}, form, 1); });
  };
  EXPECT_EQ(code_of_form({.input_sizes = {2}, .input_type = at::kByte, .classes = 1}),
            ErrorCode::Misuse);
  EXPECT_EQ(code_of_form({.input_sizes = {2}, .target_type = at::kByte, .classes = 1}),
            ErrorCode::Misuse);
}

TEST(Preprocessing, TextsKeepTheirVocabulary) {
  const TemporaryFolder folder("preprocessing");
  sequence::TextConfig config{.file = folder.path() / "text.txt", .context = 2, .validation = 0.5};
  write_file_atomically(config.file, "abcdabcd");
  Sets sets = sequence::open_text(config);
  sets.preprocessing.source = sets.train->form();
  const Preprocessing known = again(sets.preprocessing);
  write_file_atomically(config.file, "bdbdbdbd");
  const auto test = sequence::open_test_text(config, known);
  std::int64_t input[2], target[2];
  test->read(0, {}, input, target);
  EXPECT_THAT(input, ElementsAre(1, 3)) << "b and d keep their numbers";
  EXPECT_EQ(test->form().classes, 4);
  write_file_atomically(config.file, "bdbdxdbd");
  try {
    sequence::open_test_text(config, known);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), HasSubstr("has the character 'x'"));
  }
}

TEST(Preprocessing, TokenizersComeBackWhole) {
  const std::filesystem::path published =
      std::filesystem::path(source_folder()) / "tests/data/tokenizer/published";
  for (const char* name : {"gpt2.json", "llama2.json", "llama3.json", "mistral.json"}) {
    const auto tokenizer = tokenizer::open_tokenizer(published / name);
    const Preprocessing known{.source = {.tokenizer = tokenizer},
                              .form = {.classes = 480, .tokenizer = tokenizer}};
    const Form read = again(known).form;
    ASSERT_NE(read.tokenizer, nullptr);
    const tokenizer::TokenizerParts& left = tokenizer->parts();
    const tokenizer::TokenizerParts& right = read.tokenizer->parts();
    EXPECT_EQ(left.pieces, right.pieces) << name;
    EXPECT_EQ(left.merges, right.merges) << name;
    EXPECT_EQ(left.specials, right.specials) << name;
    EXPECT_EQ(left.is_over_bytes, right.is_over_bytes) << name;
    EXPECT_EQ(left.split, right.split) << name;
    EXPECT_EQ(left.prefix, right.prefix) << name;
    EXPECT_EQ(left.has_byte_tokens, right.has_byte_tokens) << name;
    EXPECT_EQ(left.is_whole_word_first, right.is_whole_word_first) << name;
    EXPECT_EQ(left.unknown, right.unknown) << name;
    EXPECT_EQ(left.is_unknown_fused, right.is_unknown_fused) << name;
    EXPECT_EQ(left.before, right.before) << name;
    EXPECT_EQ(left.after, right.after) << name;
    EXPECT_EQ(read.class_names, tokenizer->texts()) << name;
  }
}

}  // namespace
}  // namespace trireme::data
