// Goal:   columns become inputs and targets; classes, standardization and split follow from the
//         training rows; an invalid field is reported with file, line and offset.
// Method: small files generated here, with results computed by hand.

#include "trireme/data/table/table_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/config/reader.h"
#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/data/order/sampling.h"
#include "trireme/data/table/table_config.h"
#include "trireme/data/table/table_source.h"

namespace trireme::data::table {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TableSet : public ::testing::Test {
 protected:
  std::filesystem::path write(const std::string& name, const std::string& text) {
    write_file_atomically(folder_.path() / name, text);
    return folder_.path() / name;
  }
  static std::string error_of(const TableConfig& config) {
    try {
      open_csv(config);
    } catch (const Error& error) {
      return error.message();
    }
    return "";
  }

  TemporaryFolder folder_{"csv-test"};
  std::filesystem::path irises_ =
      write("irises.csv", "long,wide,kind\n1,10,setosa\n3,10,virginica\n1,10,setosa\n3,10,alba\n");
};

TEST_F(TableSet, ClassesAreNumberedInOrder) {
  const Sets sets = open_csv({.train = irises_, .test_fraction = 0, .targets = {"kind"}});
  EXPECT_EQ(sets.test, nullptr);
  ASSERT_EQ(sets.train->count(), 4);
  EXPECT_THAT(sets.train->form().class_names, ElementsAre("alba", "setosa", "virginica"));
  float input[2];
  std::int64_t label = -1;
  sets.train->read(1, {}, input, &label);
  EXPECT_EQ(label, 2);
  EXPECT_THAT(input, ElementsAre(1, 0));  // mean 2, deviation 1; a constant column
  sets.train->read(0, {}, input, &label);
  EXPECT_THAT(input, ElementsAre(-1, 0));
}

TEST_F(TableSet, ClassesThatAreNumbersGoByValue) {
  const auto path = write("digits.csv", "x,y\n0,10\n0,9\n0,-1\n");
  const Sets sets = open_csv({.train = path, .test_fraction = 0, .targets = {"y"}});
  EXPECT_THAT(sets.train->form().class_names, ElementsAre("-1", "9", "10"));
}

TEST_F(TableSet, RegressionTakesSeveralTargetsAndATestFile) {
  const auto train = write("train.csv", "a,b,c\n1,2,3\n5, +6 ,7e1\n");
  const auto test = write("test.csv", "c,b,a,extra\n30,20,10,x\n");
  const Sets sets = open_csv({.train = train,
                              .test = test,
                              .inputs = {"b"},
                              .targets = {"c", "a"},
                              .task = TableTask::Regression,
                              .are_columns_standardized = false,
                              .are_targets_standardized = false});
  EXPECT_TRUE(sets.train->form().target_standards.empty());
  EXPECT_EQ(sets.train->form().target_type, at::kFloat);
  EXPECT_THAT(sets.train->form().target_sizes, ElementsAre(2));
  float input = 0;
  float target[2];
  sets.train->read(1, {}, &input, target);
  EXPECT_EQ(input, 6);
  EXPECT_THAT(target, ElementsAre(70, 5));
  sets.test->read(0, {}, &input, target);
  EXPECT_EQ(input, 20);
  EXPECT_THAT(target, ElementsAre(30, 10));
}

TEST_F(TableSet, RegressionTargetsAreStandardizedByTheRowsTrainedOn) {
  const auto train = write("prices.csv", "x,price,year\n1,100000001,7\n2,100000003,7\n");
  const auto test = write("more.csv", "x,price,year\n1,100000006,9\n");
  const Sets sets = open_csv({.train = train,
                              .test = test,
                              .inputs = {"x"},
                              .targets = {"price", "year"},
                              .task = TableTask::Regression});
  const std::vector<Standard>& standards = sets.test->form().target_standards;
  ASSERT_EQ(standards.size(), 2U);
  EXPECT_EQ(standards[0], (Standard{.mean = 100000002, .deviation = 1}));
  EXPECT_EQ(standards[1], (Standard{.mean = 7, .deviation = 1})) << "it never changes";
  float input = 0;
  float target[2];
  sets.train->read(1, {}, &input, target);
  EXPECT_THAT(target, ElementsAre(1, 0)) << "the digits that float32 does not have at this mean";
  sets.test->read(0, {}, &input, target);
  EXPECT_THAT(target, ElementsAre(4, 2));
  ASSERT_EQ(sets.notes.size(), 1U);
  EXPECT_THAT(sets.notes[0], HasSubstr("\"price\" mean 100000002, standard deviation 1; \"year\""));
}

TEST_F(TableSet, SplitsEveryRowIntoOneOfTheSets) {
  std::string text = "x,y\n";
  for (int i = 0; i < 50; ++i) text += std::to_string(i) + ",0\n";
  TableConfig config{.train = write("many.csv", text),
                     .test_fraction = 0.2,
                     .targets = {"y"},
                     .are_columns_standardized = false};
  const auto all_of = [](const Sets& sets) {
    std::vector<float> all;
    for (const auto& source : {sets.train, sets.test}) {
      for (std::int64_t i = 0; i < source->count(); ++i) {
        std::int64_t label = 0;
        source->read(i, {}, &all.emplace_back(), &label);
      }
    }
    return all;
  };
  const Sets sets = open_csv(config);
  EXPECT_EQ(sets.train->count(), 40);
  EXPECT_EQ(sets.test->count(), 10);
  std::vector<float> all = all_of(sets);
  EXPECT_EQ(all, all_of(open_csv(config)));
  config.split_seed = 1;
  EXPECT_NE(all, all_of(open_csv(config)));
  std::sort(all.begin(), all.end());
  for (std::size_t i = 0; i < 50; ++i) EXPECT_EQ(all[i], static_cast<float>(i));
}

// Two folds of rows whose targets differ by thousands: the held-out fold would show in the mean.
TEST_F(TableSet, NothingIsLearnedFromAFoldThatIsHeldOut) {
  std::string text = "x,y\n";
  for (int i = 0; i < 20; ++i)
    text += std::to_string(i * i) + "," + std::to_string(1000 * i) + "\n";
  const TableConfig config{.train = write("folds.csv", text),
                           .test_fraction = 0,
                           .targets = {"y"},
                           .task = TableTask::Regression};
  CsvConfig csv;
  static_cast<TableConfig&>(csv) = config;
  const Sets whole = open_csv(config);
  std::vector<double> means;
  for (const int fold : {0, 1}) {
    const SamplingConfig sampling{.folds = 2, .fold = fold};
    const Sets sets = csv_opener().learn(csv, {.sampling = sampling});
    EXPECT_EQ(sets.train->count(), 10);
    EXPECT_EQ(sets.test->count(), 10);
    Moments inputs, targets;
    for (std::int64_t i = 0; i < sets.train->count(); ++i) {
      float input = 0, target = 0;
      sets.train->read(i, {}, &input, &target);
      inputs.add(input);
      targets.add(target);
    }
    for (const Moments& moments : {inputs, targets}) {
      EXPECT_NEAR(moments.mean, 0, 1e-6) << "of the rows trained on, fold " << fold;
      EXPECT_NEAR(moments.variance(), 1, 1e-5);
    }
    means.push_back(sets.train->form().target_standards[0].mean);
  }
  const double mean = whole.train->form().target_standards[0].mean;
  EXPECT_NE(means[0], mean);
  EXPECT_NEAR(means[0] + means[1], 2 * mean, 1e-6) << "each row is in one of the folds";
}

TEST_F(TableSet, AClassOfOneRowIsAClassInEveryFold) {
  const TableConfig config{.train = write("rare.csv", "x,y\n1,a\n2,a\n3,b\n4,a\n"),
                           .test_fraction = 0,
                           .targets = {"y"}};
  CsvConfig csv;
  static_cast<TableConfig&>(csv) = config;
  std::int64_t held_out = 0;
  for (const int fold : {0, 1}) {
    const SamplingConfig sampling{.folds = 2, .fold = fold};
    const Sets sets = csv_opener().learn(csv, {.sampling = sampling});
    EXPECT_THAT(sets.train->form().class_names, ElementsAre("a", "b"));
    held_out += sets.test->count();
  }
  EXPECT_EQ(held_out, 4);
}

TEST_F(TableSet, NamesWhatIsWrong) {
  EXPECT_THAT(error_of({}), HasSubstr("data.train and data.targets"));
  EXPECT_THAT(error_of({.train = irises_, .targets = {"kinds"}}), HasSubstr("mean 'kind'?"));
  EXPECT_THAT(error_of({.train = irises_, .targets = {"kind"}, .task = TableTask::Regression}),
              HasSubstr("irises.csv:2: expected a number in column \"kind\", found \"setosa\". "
                        "Correct the row, set data.task = \"classification\""));
  EXPECT_THAT(error_of({.train = irises_, .targets = {"height"}}),
              HasSubstr("irises.csv has no column 'height'; its columns are: long, wide, "));
  EXPECT_THAT(error_of({.train = irises_, .inputs = {"long", "wied"}, .targets = {"kinds"}}),
              HasSubstr("irises.csv has no columns 'kinds' (did you mean 'kind'?), 'wied' (did you "
                        "mean 'wide'?); its columns are: "))
      << "all of them at once";
  const auto semicolons = write("semi.csv", "sl;species\n1;a\n");
  EXPECT_THAT(error_of({.train = semicolons, .targets = {"species"}}),
              HasSubstr("semi.csv has no column 'species'; its columns are: sl;species. Set "
                        "data.delimiter if another character separates them."));
  for (const std::string wrong : {"", "nan", "inf", "1e99", "1 2", "x"}) {
    const auto path = write("wrong.csv", "x,y\n" + wrong + ",1\n");
    EXPECT_THAT(error_of({.train = path, .targets = {"y"}}), HasSubstr("wrong.csv:2: expected a "))
        << wrong;
  }
  const auto test = write("test.csv", "long,wide,kind\n1,1,rose\n");
  EXPECT_THAT(error_of({.train = irises_, .test = test, .targets = {"kind"}}),
              HasSubstr("test.csv:2: class \"rose\" of column \"kind\" is in no row"));
  EXPECT_THAT(error_of({.train = write("none.csv", "a,b\n"), .targets = {"b"}}),
              HasSubstr("no rows"));
}

TEST_F(TableSet, SeveralTargetsAreTasks) {
  const auto path =
      write("cars.csv", "make,power,price,fuel.kind\nA,1,9,gas\nB,2,8,oil\nA,3,7,gas\n");
  const Sets sets = open_csv({.train = path,
                              .test_fraction = 0,
                              .categories = {"make"},
                              .targets = {"price", "fuel.kind"},
                              .class_targets = {"fuel.kind"},
                              .task = TableTask::Multitask,
                              .are_columns_standardized = false});
  EXPECT_EQ(sets.train->form().target_standards[1], Standard{}) << "a class is as it is";
  const Form& form = sets.train->form();
  EXPECT_EQ(form.classes, 0);
  EXPECT_TRUE(form.class_names.empty());
  ASSERT_EQ(form.tasks.size(), 2U);
  EXPECT_EQ(form.tasks[0].name, "price");
  EXPECT_EQ(form.tasks[0].classes, 0);
  EXPECT_EQ(form.tasks[1].name, "fuel_kind");
  EXPECT_EQ(form.tasks[1].classes, 2);
  float input[3], target[2];
  sets.train->read(1, {}, input, target);
  EXPECT_THAT(input, ElementsAre(0, 1, 2));
  EXPECT_THAT(target, ElementsAre(0, 1));  // the mean of the prices
}

TEST_F(TableSet, LinesOfJsonAreRowsToo) {
  const auto path =
      write("cars.jsonl", "{\"x\": [1, 2], \"y\": \"b\"}\n{\"y\": \"a\", \"x\": [3, 4]}\n");
  const Sets sets = open_json_lines(
      {.train = path, .test_fraction = 0, .targets = {"y"}, .are_columns_standardized = false});
  EXPECT_THAT(sets.train->form().class_names, ElementsAre("a", "b"));
  float input[2];
  std::int64_t label = -1;
  sets.train->read(1, {}, input, &label);
  EXPECT_THAT(input, ElementsAre(3, 4));
  EXPECT_EQ(label, 0);
  const auto torn = write("torn.jsonl", "{\"x\": 1, \"y\": 2}\n{\"y\": 2}\n");
  try {
    open_json_lines({.train = torn, .test_fraction = 0, .targets = {"y"}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.message(),
                HasSubstr("torn.jsonl:2: expected a number in column \"x\", found \"\""));
  }
}

TEST(SettingsOfATable, AreCheckedTogether) {
  config::Schema schema;
  schema.section("data").kind<CsvConfig>("csv", "").kind<JsonLinesConfig>("json_lines", "");
  const auto read = [&](const std::string& text) {
    return config::read_config(schema, {.files = {{"t.toml", "[data]\n" + text}}});
  };
  EXPECT_EQ(read("kind = \"json_lines\"\ntrain = \"a\"").get<JsonLinesConfig>("data").train, "a");
  EXPECT_THROW(read("targets = [\"a\", \"b\"]"), Error);
  EXPECT_THROW(read("targets = [\"a\"]\ntask = \"multitask\""), Error);
  EXPECT_THROW(read("targets = [\"a\"]\nclass_targets = [\"a\"]"), Error);
  EXPECT_THROW(read("targets = [\"a\", \"b\"]\ntask = \"multitask\"\nclass_targets = [\"c\"]"),
               Error);
  EXPECT_THROW(read("kind = \"json_lines\"\ndelimiter = \";\""), Error);
  EXPECT_EQ(read("missing = 0").get<CsvConfig>("data").missing, "0");
  EXPECT_EQ(read("missing = 1.5").get<CsvConfig>("data").missing, "1.5");
  EXPECT_THROW(read("missing = true"), Error);
  try {
    read("inputs = [\"rooms\", \"price\"]\ntargets = [\"price\"]\ntask = \"regression\"");
    ADD_FAILURE() << "a model that sees its target";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidInput);
    EXPECT_THAT(error.message(), HasSubstr("'price': a target cannot be an input"));
  }
  EXPECT_THROW(read("inputs = [\"a\", \"a\"]\ntargets = [\"b\"]"), Error);
}

TEST(TableSource, RefusesRowsThatAreNotThere) {
  const TableSource source({.inputs = {1, 2}, .values = {}, .classes = {0, 1}},
                           {.input_sizes = {1}, .classes = 2}, 2);
  float input = 0;
  std::int64_t label = 0;
  EXPECT_THROW(source.read(2, {}, &input, &label), Error);
  EXPECT_THROW(TableSource({}, {.input_sizes = {1}, .classes = 2}, 2), Error);
}

}  // namespace
}  // namespace trireme::data::table
