// Goal:   every subcommand has help, rejects invalid arguments, and reports mistakes before it does
//         anything.
// Method: the real commands, as long as they start no job.

#include "trireme/cli/commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "trireme/base/build_info.h"
#include "trireme/base/config/schema_json.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/testing/scoped_variable.h"

namespace trireme::cli {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

struct Outcome {
  int code = 0;
  std::string out, error;
};

Outcome run(Command command, const Words& words) {
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  Outcome result;
  result.code = command.run(words);
  result.out = ::testing::internal::GetCapturedStdout();
  result.error = ::testing::internal::GetCapturedStderr();
  return result;
}

TEST(Commands, AllHaveHelpWithAnExample) {
  for (const Command& command : all_commands()) {
    EXPECT_FALSE(command.syntax().group.title.empty()) << command.name();
    EXPECT_FALSE(command.syntax().group.example.empty()) << command.name();
    for (const std::string& example : command.syntax().examples) {
      EXPECT_THAT(example, HasSubstr("trireme " + command.name()));
    }
    if (command.syntax().is_forwarded) continue;
    const Outcome result = run(command, {"--help"});
    EXPECT_EQ(result.code, 0);
    EXPECT_THAT(result.out, ContainsRegex("\nExamples?:\n  .*trireme " + command.name()));
    EXPECT_EQ(run(command, {"--nonsense"}).code, 2);
  }
}

// docs/jobs.md says so.
TEST(Commands, ThoseThatPrintTablesCanPrintJson) {
  for (Command (*make)() : {explain_command, eval_command, crossval_command, jobs_command,
                            watch_command, checkpoint_command, version_command}) {
    EXPECT_NE(make().syntax().option("--json"), nullptr) << make().name();
  }
}

TEST(Commands, VersionAndJobsAreJson) {
  const auto version = nlohmann::json::parse(run(version_command(), {"--json"}).out);
  EXPECT_EQ(version.at("trireme"), std::string(base::build_info().version));
  EXPECT_EQ(version.at("build id"), std::string(base::build_info().build_id));
  // Other tests, or the user of this machine, may have jobs.
  EXPECT_TRUE(nlohmann::json::parse(run(jobs_command(), {"--json"}).out).is_array());
}

TEST(Commands, VersionListsTheFeatures) {
  const Outcome result = run(version_command(), {});
  EXPECT_EQ(result.code, 0);
  const base::BuildInfo& info = base::build_info();
  for (std::string_view text : {info.version, info.build_id, info.compiler, info.torch}) {
    EXPECT_THAT(result.out, HasSubstr(std::string(text)));
  }
  for (const base::BuildPart& part : info.parts) {
    EXPECT_THAT(result.out, HasSubstr(std::string(part.state)));
  }
}

struct PaintConfig {
  std::vector<int> layers{1, 2};
  bool is_wet = false;

  static void describe(config::Fields<PaintConfig>& f) {
    f.add("layers", &PaintConfig::layers).range(1, 9).help("coats of paint");
    f.add("is_wet", &PaintConfig::is_wet);
  }
};

// A worker that describes these settings, and fails if it is started for anything else.
void write_worker(const std::filesystem::path& folder, const config::Schema& schema) {
  const std::string settings = (folder / "settings.json").string();
  write_file_atomically(settings, config::schema_json(schema));
  write_file_atomically(folder / "worker",
                        "#!/bin/sh\n[ \"$1\" = describe ] || exit 1\ncat " + settings + "\n",
                        {.mode = 0755});
}

TEST(Commands, SettingsThatCannotBeCombinedAreRefusedBeforeAWorkerStarts) {
  const TemporaryFolder folder("combinations-test");
  config::Schema schema;
  schema.section("paint").fields<PaintConfig>();
  schema.refuse({.conditions = {config::is("paint.is_wet", {{true}}),
                                config::is("elastic.enabled", {{true}})},
                 .why = "paint.is_wet cannot be combined with elastic jobs"});
  schema.refuse({.conditions = {config::is("paint.is_wet", {{true}}),
                                config::is("paint.layers", {{config::List{{3}}}})},
                 .why = "paint.is_wet cannot be combined with paint.layers = [3]"});
  write_worker(folder.path(), schema);
  const std::string recipe = (folder.path() / "r.toml").string();
  write_file_atomically(recipe, "[paint]\nlayers = [3]\n");
  const auto refused = [&](Command command, Words words) {
    const std::string output = (folder.path() / "job").string();
    words.insert(words.begin(), {recipe, "--worker", (folder.path() / "worker").string()});
    if (command.name() == "train") words.insert(words.end(), {"--output", output});
    const Outcome result = run(std::move(command), words);
    EXPECT_EQ(result.code, 2) << result.error;
    EXPECT_FALSE(std::filesystem::exists(output));
    return result.error;
  };
  EXPECT_THAT(refused(explain_command(), {"paint.is_wet=true"}), HasSubstr("paint.layers = [3]"));
  EXPECT_THAT(refused(train_command(), {"paint.is_wet=true", "-n", "2"}),
              HasSubstr("paint.layers = [3]"));
  EXPECT_THAT(refused(train_command(), {"paint.is_wet=true", "paint.layers=[1]", "--elastic"}),
              HasSubstr("elastic jobs"));
  // The job was accepted for its number of ranks, which explain does not know.
  std::filesystem::create_directory(folder.path() / "done");
  write_file_atomically(folder.path() / "done" / "config.toml",
                        "[paint]\nlayers = [3]\nis_wet = true\n");
  const Outcome job = run(explain_command(), {(folder.path() / "done").string(), "--worker",
                                              (folder.path() / "worker").string()});
  EXPECT_EQ(job.code, 0) << job.error;
}

TEST(Commands, ExplainPrintsJson) {
  const TemporaryFolder folder("explain-test");
  config::Schema schema;
  schema.section("paint").fields<PaintConfig>();
  write_worker(folder.path(), schema);
  write_file_atomically(folder.path() / "r.toml", "[paint]\nlayers = [3]\n");
  const auto explain = [&](Words more) {
    Words words{"--json", "--worker", (folder.path() / "worker").string()};
    words.insert(words.end(), more.begin(), more.end());
    return run(explain_command(), words);
  };
  const std::string recipe = (folder.path() / "r.toml").string();
  const auto all = nlohmann::json::parse(explain({recipe, "paint.is_wet=true"}).out);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].at("key"), "paint.layers");
  EXPECT_EQ(all[0].at("value"), nlohmann::json({3}));
  EXPECT_EQ(all[0].at("default"), nlohmann::json({1, 2}));
  EXPECT_EQ(all[0].at("range"), "1 to 9");
  EXPECT_EQ(all[1].at("value"), true);
  const auto one = nlohmann::json::parse(explain({recipe, "--key", "paint.is_wet"}).out);
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].at("origin"), "default");
  EXPECT_THAT(explain({recipe, "--key", "paint.wet"}).error, HasSubstr("there is no setting"));
  EXPECT_EQ(nlohmann::json::parse(explain({"--list"}).out),
            nlohmann::json::parse(config::schema_json(schema)));
}

TEST(Commands, RunExplainsEveryMistakeBeforeItStarts) {
  const Outcome result = run(run_command(), {"-n", "0", "--name", "../x", "--grace", "-1", "--bind",
                                             "maybe", "/no/such/program"});
  EXPECT_EQ(result.code, 2);
  for (const char* text : {"-n 0", "'../x'", "--grace -1", "--bind maybe", "/no/such/program"}) {
    EXPECT_THAT(result.error, HasSubstr(text));
  }
  for (const char* ranks : {"", "four", "4x", "-1", "4097", "1e3"}) {
    EXPECT_EQ(run(run_command(), {"-n", ranks, "true"}).code, 2) << ranks;
  }
}

TEST(Commands, WithoutJobsThereIsNothingToListOrStop) {
  const TemporaryFolder runtime("commands-test");
  const trireme::testing::ScopedVariable variable("XDG_RUNTIME_DIR", runtime.path());
  EXPECT_EQ(run(jobs_command(), {}).code, 0);
  for (Command (*make)() : {watch_command, stop_command, join_command}) {
    const Outcome result = run(make(), {"no-such-job"});
    EXPECT_EQ(result.code, 2);
    EXPECT_THAT(result.error, HasSubstr("no job named 'no-such-job' is running"));
    EXPECT_EQ(run(make(), {}).code, 2);
  }
  EXPECT_THAT(run(scale_command(), {"no-such-job", "3"}).error, HasSubstr("no job named"));
  for (const char* count : {"0", "129", "three"}) {
    EXPECT_EQ(run(scale_command(), {"no-such-job", count}).code, 2) << count;
  }
  EXPECT_THAT(run(coordinate_command(), {runtime.path()}).error, HasSubstr("no job's folder"));
}

}  // namespace
}  // namespace trireme::cli
