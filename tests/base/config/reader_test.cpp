// Goal:   files and overrides become one configuration, later sources take precedence, and all
//         mistakes are reported together.
// Method: one configuration with a mistake of every sort and its complete report; layers of
//         sources.

#include "trireme/base/config/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/base/config/sample_config.h"
#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"

namespace trireme::config {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

std::string report_of(const Sources& sources) {
  try {
    read_config(sample_schema(), sources);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidInput);
    return error.message();
  }
  return "no mistakes";
}

TEST(ConfigReader, UsesDefaultsWithoutASource) {
  const Config config = read_config(sample_schema(), {});
  EXPECT_EQ(config.get<RunConfig>("run"), RunConfig{});
}

TEST(ConfigReader, ReadsEveryType) {
  const std::string text = R"(
    [run]
    ranks = 4
    grace = "250 ms"
    backend = "shm"
    name = "my job"
    cores = [0, 2]
    tags = []
    rate = 1
    scale = 2.5
    verbose = true
    [run.limit]
    memory = "1.5 GiB"
    files = 7
  )";
  const Config config = read_config(sample_schema(), {.files = {{"job.toml", text}}});
  const RunConfig expected{.ranks = 4,
                           .grace = 250ms,
                           .backend = Backend::Shm,
                           .name = "my job",
                           .cores = {0, 2},
                           .tags = {},
                           .rate = 1.0,
                           .scale = 2.5f,
                           .is_verbose = true,
                           .limit = {.memory = ByteSize{1536 << 20}, .files = 7}};
  EXPECT_EQ(config.get<RunConfig>("run"), expected);
}

TEST(ConfigReader, TheLastSourceTakesPrecedence) {
  const Config config = read_config(
      sample_schema(), {.files = {{"a", "[run]\nranks = 2\nname = 'x'\n"}, {"b", "run.ranks = 3"}},
                        .overrides = {"run.ranks=4", "run.ranks=5", "run.name="}});
  EXPECT_EQ(config.get<RunConfig>("run").ranks, 5);
  EXPECT_EQ(config.get<RunConfig>("run").name, std::nullopt);
}

TEST(ConfigReader, GivenSettingsAreWeakerThanAllSources) {
  const std::vector<GivenSetting> given{
      {"model.kind", {std::string("gpt")}, "/m/config.json"},
      {"model.num_heads", {std::int64_t{8}}, "/m/config.json"},
      {"model.hidden_size", {std::int64_t{64}}, "/m/config.json"}};
  const Config config = read_config(
      sample_schema(), {.files = {{"a", "[model]\nhidden_size = 2\n"}}, .given = given});
  EXPECT_EQ(config.get<GptConfig>("model"), (GptConfig{.hidden_size = 2, .num_heads = 8}));
  EXPECT_EQ(config.setting("model.num_heads")->origin, "/m/config.json");
  EXPECT_EQ(config.setting("model.hidden_size")->origin, "a:2");
  const std::vector<GivenSetting> mlp{{"model.kind", {std::string("mlp")}, "/m/config.json"}};
  EXPECT_THAT(report_of({.overrides = {"model.num_heads=3"}, .given = mlp}),
              HasSubstr("the kind here is \"mlp\" (/m/config.json)"));
}

TEST(ConfigReader, ReadsOnlyWhatIsAskedFor) {
  const Sources sources{.files = {{"a", "[run]\nranks = 2\n[run.limit]\nfiles = 3\n"}},
                        .overrides = {"model.num_heads=3", "run.name=x"},
                        .only = {"run.ranks", "run.limit."}};
  const Config config = read_config(sample_schema(), sources);
  EXPECT_EQ(config.get<RunConfig>("run").ranks, 2);
  EXPECT_EQ(config.get<RunConfig>("run").limit.files, 3);
  EXPECT_EQ(config.get<RunConfig>("run").name, std::nullopt);
}

TEST(ConfigReader, OverridesAreReadByTheTypeOfTheirSetting) {
  const Config config = read_config(
      sample_schema(),
      {.overrides = {"run.name=5", "run.cores=1,2", "run.tags=x,y z", "run.grace=1.5 min",
                     "run.limit.memory=2M", "run.verbose=true", "run.rate=1e-3"}});
  const RunConfig& run = config.get<RunConfig>("run");
  EXPECT_EQ(run.name, "5");
  EXPECT_EQ(run.cores, (std::vector<int>{1, 2}));
  EXPECT_EQ(run.tags, (std::vector<std::string>{"x", "y z"}));
  EXPECT_EQ(run.grace, 90s);
  EXPECT_EQ(run.limit.memory, ByteSize{2 << 20});
  EXPECT_TRUE(run.is_verbose);
  EXPECT_EQ(run.rate, 1e-3);
}

TEST(ConfigReader, ReportsEveryMistakeAtOnce) {
  const std::string text =
      "sed = 1\n"
      "[run]\n"
      "rnks = 4\n"
      "ranks = 5000\n"
      "grace = \"5 parsecs\"\n"
      "backend = \"shmm\"\n"
      "ranks = 3\n"
      "cores = [1, \"x\"]\n"
      "verbose = 1\n"
      "limit.memory = \"1 KiB\"\n"
      "[modle]\n"
      "hidden_size = 3\n"
      "[model]\n"
      "num_heads = 3\n";
  EXPECT_EQ(
      report_of({.files = {{"job.toml", text}},
                 .overrides = {"run.ranks=0", "nothing.here=1", "run.name", "run.rate=fast"}}),
      "15 mistakes in the configuration:\n"
      "  job.toml:1: sed: there is no such setting; did you mean seed?\n"
      "  job.toml:3: run.rnks: there is no such setting; did you mean run.ranks?\n"
      "  job.toml:4: run.ranks: 5000 is more than 4096, the most allowed\n"
      "  job.toml:5: run.grace: \"5 parsecs\" is no duration; write a number and ns, us, ms, "
      "s, min, h or d: \"5 s\"\n"
      "  job.toml:6: run.backend: \"shmm\" is none of \"auto\", \"shm\", \"tcp\"; did you "
      "mean \"shm\"?\n"
      "  job.toml:7: run.ranks: is defined twice\n"
      "  job.toml:8: run.cores: \"x\" is text; it needs an integer\n"
      "  job.toml:9: run.verbose: 1 is an integer; it needs true or false\n"
      "  job.toml:10: run.limit.memory: \"1 KiB\" is less than 1 MiB, the least allowed\n"
      "  job.toml:11: [modle]: there is no such section; did you mean [model]?\n"
      "  job.toml:14: model.num_heads: belongs to the kind \"gpt\", and the kind here is \"mlp\" "
      "(default); set model.kind = \"gpt\"\n"
      "  override \"run.ranks=0\": run.ranks: 0 is less than 1, the least allowed\n"
      "  override \"nothing.here=1\": [nothing]: there is no such section\n"
      "  override \"run.name\": is not of the form key=value\n"
      "  override \"run.rate=fast\": run.rate: \"fast\" is text; it needs a number");
}

TEST(ConfigReader, SectionsAreNotSettings) {
  EXPECT_THAT(report_of({.files = {{"f", "run = 5"}}}), HasSubstr("is a section, not a setting"));
  EXPECT_THAT(report_of({.files = {{"f", "[[run]]\nranks = 1"}}}), HasSubstr("write [run]"));
  EXPECT_THAT(report_of({.files = {{"f", "[run.ranks]\nx = 1"}}}),
              HasSubstr("run.ranks: is a setting, not a section"));
  EXPECT_THAT(report_of({.files = {{"f", "[run]\nranks = 2020-01-01"}}}),
              HasSubstr("date or time"));
  EXPECT_EQ(report_of({.files = {{"f", "run = {ranks = 2}\n[model]\n"}}}), "no mistakes");
}

TEST(ConfigReader, TheNumberOfReportedMistakesIsBounded) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "key" + std::to_string(i) + " = 1\n";
  const std::string report = report_of({.files = {{"f", text}}});
  EXPECT_THAT(report, HasSubstr("20000 mistakes"));
  EXPECT_LT(report.size(), 20'000u);
}

TEST(ConfigReader, LoadsFiles) {
  const TemporaryFolder folder("reader-test");
  const auto path = folder.path() / "job.toml";
  write_file_atomically(path, "[run]\nranks = 2\n");
  EXPECT_EQ(
      read_config(sample_schema(), {.files = {load_config(path)}}).get<RunConfig>("run").ranks, 2);
  EXPECT_THROW(load_config(folder.path() / "absent"), Error);
}

}  // namespace
}  // namespace trireme::config
