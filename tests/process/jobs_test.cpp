// Goal:   running jobs can be listed, watched and stopped by name; dead ones are not listed.
// Method: the real program in several processes.

#include <signal.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/process/job_fixture.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"

namespace trireme {
namespace {

using ::testing::ContainsRegex;

class JobsTest : public JobTest {
 protected:
  struct Result {
    int code = 0;
    std::string out, error;
  };
  static Result trireme(Words words) {
    words.insert(words.begin(), program());
    Command command({.command = words});
    const int code = command.wait_exit(soon());
    return {.code = code, .out = command.out(), .error = command.error()};
  }
};

TEST_F(JobsTest, AreListedWatchedAndStopped) {
  Command job(script({"-n", "2", "--name", "demo"},
                     "trap 'echo saving; exit 0' TERM; echo up; while :; do sleep 0.05; done"));
  job.wait_for_output("] up", soon(), 2);
  const Result jobs = trireme({"jobs"});
  EXPECT_EQ(jobs.code, 0);
  EXPECT_THAT(jobs.out, HasSubstr("demo "));
  EXPECT_THAT(jobs.out, HasSubstr("running"));
  EXPECT_THAT(jobs.out, HasSubstr((state_.runtime() / "trireme/demo").string()));

  EXPECT_THAT(jobs.out, Not(HasSubstr("pids")));
  EXPECT_THAT(trireme({"jobs", "--verbose"}).out,
              ContainsRegex("pids: launcher [0-9]+; ranks 0=[0-9]+ 1=[0-9]+\n"));

  Command watch({.command = {program(), "watch", "demo", "--json"}});
  watch.wait_for_output("\"event\":\"rank started\",\"rank\":1", soon());
  Command readable({.command = {program(), "watch", "demo"}});
  readable.wait_for_output(" rank started: rank 1, pid ", soon());
  EXPECT_THAT(readable.out(), ContainsRegex("pids of ranks: 0=[0-9]+ 1=[0-9]+\n"));

  const Result stop = trireme({"stop", "demo"});
  EXPECT_EQ(stop.code, 0) << stop.error;
  EXPECT_EQ(job.wait_exit(soon()), 143);
  EXPECT_THAT(job.out(), HasSubstr("[1] saving\n"));
  EXPECT_THAT(job.error(), HasSubstr("stopped by `trireme stop`"));
  EXPECT_EQ(watch.wait_exit(soon()), 0);
  EXPECT_THAT(watch.out(), HasSubstr("\"event\":\"job ending\",\"why\":\"stop\""));
  EXPECT_EQ(readable.wait_exit(soon()), 0);
  EXPECT_THAT(readable.out(), HasSubstr(" job ending: why stop\n"));
  EXPECT_THAT(readable.out(), Not(HasSubstr("{")));
  EXPECT_THAT(trireme({"jobs"}).out, Not(HasSubstr("demo")));
}

// In the format that training writes into its output folder.
TEST_F(JobsTest, StepLossSpeedAndFolderAreShown) {
  const TemporaryFolder output("jobs-output");
  Command job(
      script({"--name", "demo", "--output", output.path().string()}, "echo up; exec sleep 1000"));
  job.wait_for_output("] up", soon());
  write_file_atomically(output.path() / "metrics.jsonl",
                        "{\"step\":1234,\"loss\":0.5,\"tokens_per_second\":7800.0}\n");
  const Result jobs = trireme({"jobs"});
  EXPECT_THAT(jobs.out, ContainsRegex("1234 +0.5000 +7.8k tokens/s +" + output.path().string()));
  const auto json = nlohmann::json::parse(trireme({"jobs", "--json"}).out);
  ASSERT_EQ(json.size(), 1u);
  EXPECT_EQ(json[0].at("job"), "demo");
  EXPECT_EQ(json[0].at("state"), "running");
  EXPECT_EQ(json[0].at("ranks"), 1);
  EXPECT_EQ(json[0].at("output"), output.path().string());
  EXPECT_EQ(json[0].at("step"), 1234);
  EXPECT_EQ(json[0].at("loss"), 0.5);
  EXPECT_EQ(json[0].at("tokens_per_second"), 7800.0);
  Command shell({.command = {program(), "--complete", "stop", "de"}});
  EXPECT_EQ(shell.wait_exit(soon()), 0);
  EXPECT_THAT(shell.out(), HasSubstr("none\ndemo\t"));
  Command watch({.command = {program(), "watch", "demo"}});
  watch.wait_for_output(" progress: step 1234, loss 0.5, tokens per second 7800\n", soon());
  EXPECT_LT(watch.out().find(" rank started"), watch.out().find(" progress: "))
      << "what happened before comes first";
  EXPECT_EQ(trireme({"stop", "--kill", "demo"}).code, 0);
  EXPECT_EQ(watch.wait_exit(soon()), 0);
}

TEST_F(JobsTest, AJobThatIgnoresSignalsIsKilled) {
  Command job(script({"--name", "demo", "--grace", "1000"},
                     "trap '' TERM; echo up; while :; do sleep 0.05; done"));
  job.wait_for_output("] up", soon());
  EXPECT_EQ(trireme({"stop", "--kill", "demo"}).code, 0);
  EXPECT_EQ(job.wait_exit(soon()), 137);
}

TEST_F(JobsTest, WrongNamesAreExplained) {
  Command job(script({"--name", "demo"}, "echo up; exec sleep 1000"));
  job.wait_for_output("] up", soon());
  const Result stop = trireme({"stop", "dmeo"});
  EXPECT_EQ(stop.code, 2);
  EXPECT_THAT(stop.error, HasSubstr("did you mean demo?"));
  Command twin(script({"--name", "demo"}, "true"));
  EXPECT_EQ(twin.wait_exit(soon()), 2);
  EXPECT_THAT(twin.error(), HasSubstr("already running"));
  job.signal(SIGTERM);
  EXPECT_EQ(job.wait_exit(soon()), 143);
}

TEST_F(JobsTest, ManyJobsRunSideBySide) {
  std::vector<std::unique_ptr<Command>> jobs;
  for (int i = 0; i < 8; ++i) {
    jobs.push_back(std::make_unique<Command>(script({"-n", "2"}, "echo up; sleep 0.2")));
  }
  for (const auto& job : jobs) EXPECT_EQ(job->wait_exit(soon()), 0) << job->error();
}

TEST_F(JobsTest, AnUnsafeFolderIsRefused) {
  std::filesystem::create_directory(state_.runtime() / "real");
  std::filesystem::create_directory_symlink(state_.runtime() / "real",
                                            state_.runtime() / "trireme");
  Command job(script({}, "echo up"));
  EXPECT_EQ(job.wait_exit(soon()), 2);
  EXPECT_THAT(job.error(), HasSubstr("is no folder"));
  EXPECT_EQ(job.out(), "");
  std::filesystem::remove(state_.runtime() / "trireme");
  std::filesystem::remove(state_.runtime() / "real");
}

}  // namespace
}  // namespace trireme
