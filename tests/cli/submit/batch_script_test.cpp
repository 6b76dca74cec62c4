// Goal:   the batch script contains the requested options, passes every argument on unchanged,
//         exits like the job, and requeues a job that was stopped by its time limit.
// Method: runs the script in a shell on this host, with scripts in place of trireme and scontrol.

#include "trireme/cli/submit/batch_script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/testing/command_process.h"

namespace trireme::cli {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

BatchScript some_script() {
  BatchScript script;
  script.program = "/opt/trireme";
  script.command = {"train", "a recipe.toml", "--output", "runs/it's"};
  return script;
}

TEST(BatchScriptText, ContainsTheRequestedOptions) {
  BatchScript script = some_script();
  script.nodes = 2;
  script.ranks_each = 4;
  script.cores_each = 8;
  script.time = "1:00:00";
  script.more = {"--gres=gpu:4"};
  EXPECT_EQ(script.mistake(), "");
  const std::string text = script.text();
  for (const char* line : {"#!/bin/bash\n", "\n#SBATCH --nodes=2\n", "\n#SBATCH --requeue\n",
                           "\n#SBATCH --ntasks-per-node=4\n", "\n#SBATCH --cpus-per-task=8\n",
                           "\n#SBATCH --time=1:00:00\n", "\n#SBATCH --signal=B:USR1@60\n",
                           "\n#SBATCH --gres=gpu:4\n", BatchScript::kMark}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  EXPECT_THAT(text, Not(HasSubstr("--partition")));
  script.is_requeued = false;
  EXPECT_THAT(script.text(), HasSubstr("#SBATCH --no-requeue\n"));
  EXPECT_THAT(script.text(), Not(HasSubstr("scontrol")));
}

TEST(BatchScriptText, ReportsMistakes) {
  BatchScript script = some_script();
  script.command = {};
  EXPECT_THAT(script.mistake(), HasSubstr("what to submit is missing"));
  script.command = {"eval", "x"};
  EXPECT_THAT(script.mistake(), HasSubstr("what to submit is missing"));
  script.command = {"train", "x", "-n", "4"};
  EXPECT_THAT(script.mistake(), HasSubstr("Slurm says where ranks run"));
  script.command = {"run", "--", "./mine", "-n", "4"};
  EXPECT_EQ(script.mistake(), "") << "the program's own";
  script.command = {"train", "x"};
  EXPECT_THAT(script.mistake(), HasSubstr("needs train --output DIR"));
  script.command = {"train", "x", "--output=y"};
  EXPECT_EQ(script.mistake(), "");
  script.name = "a\n#SBATCH --evil";
  EXPECT_THAT(script.mistake(), HasSubstr("blanks"));
}

constexpr const char* kSaving =
    "trap 'echo saving; exit 143' TERM\necho up\nwhile :; do sleep 0.01; done\n";

class BatchScriptRun : public ::testing::Test {
 protected:
  BatchScriptRun() {
    script_.program = (folder_.path() / "trireme").string();
    script_.command = {"train", "a recipe.toml", "--output", (folder_.path() / "it's").string()};
    answer_of_slurm("PreemptTime=None");
  }
  // Sets the output of `scontrol show job`; for `scontrol requeue`, the stand-in prints its
  // arguments.
  void answer_of_slurm(const std::string& preempted) {
    write_file_atomically(folder_.path() / "scontrol",
                          "#!/bin/sh\n[ \"$1\" = requeue ] || exec echo \"JobId=$3 Restarts=0\n   "
                          "StartTime=2026-03-01T10:00:00 EndTime=Unknown\n   "
                          "PreemptEligibleTime=2026-03-01T10:00:00 " +
                              preempted + "\"\necho \"scontrol $*\"\n",
                          {.mode = 0755});
  }
  std::unique_ptr<testing::CommandProcess> start(const std::string& program,
                                                 const std::string& restarts) {
    write_file_atomically(script_.program, "#!/bin/sh\n" + program, {.mode = 0755});
    write_file_atomically(folder_.path() / "job", script_.text());
    const std::string path = folder_.path().string() + ":" + std::getenv("PATH");
    return std::make_unique<testing::CommandProcess>(testing::CommandProcess::Options{
        .command = {"/bin/bash", (folder_.path() / "job").string()},
        .environment = {
            {"PATH", path}, {"SLURM_RESTART_COUNT", restarts}, {"SLURM_JOB_ID", "42"}}});
  }
  static Deadline soon() { return Deadline::after(20s); }

  TemporaryFolder folder_{"batch-script"};
  BatchScript script_;
};

TEST_F(BatchScriptRun, PassesArgumentsAndTheExitCodeUnchanged) {
  const std::string program = "for word; do echo \"<$word>\"; done; exit 3\n";
  const auto first = start(program, "");
  EXPECT_EQ(first->wait_exit(soon()), 3) << first->error();
  EXPECT_EQ(first->out(), "<train>\n<--slurm>\n<--grace>\n<50>\n<a recipe.toml>\n<--output>\n<" +
                              (folder_.path() / "it's").string() + ">\n");
  std::filesystem::create_directory(folder_.path() / "it's");
  write_file_atomically(folder_.path() / "it's" / "config.toml", "");
  const auto again = start(program, "1");
  EXPECT_EQ(again->wait_exit(soon()), 3);
  EXPECT_THAT(again->out(),
              HasSubstr("<--slurm>\n<--resume=auto>\n<--grace>\n<50>\n<a recipe.toml>\n"));
}

TEST(BatchScriptText, TheGraceTimeFollowsTheWarningTime) {
  BatchScript script = some_script();
  const auto grace_with = [&](int warning) {
    script.warning = warning;
    return script.text();
  };
  EXPECT_THAT(grace_with(600), HasSubstr(" --grace 590 "));
  EXPECT_THAT(grace_with(6), HasSubstr(" --grace 3 "));
  EXPECT_THAT(grace_with(0), Not(HasSubstr("--grace")));
  script.command.insert(script.command.end(), {"--grace", "7"});
  EXPECT_THAT(grace_with(600), Not(HasSubstr("590")));
}

TEST_F(BatchScriptRun, IsRequeuedWhenItsTimeIsUp) {
  const auto job = start(kSaving, "");
  job->wait_for_output("up\n", soon());
  job->signal(SIGUSR1);
  EXPECT_EQ(job->wait_exit(soon()), 143);
  EXPECT_EQ(job->out(), "up\nsaving\nscontrol requeue 42\n");
}

TEST_F(BatchScriptRun, IsNotRequeuedWhenItIsCancelled) {
  const auto job = start(kSaving, "");
  job->wait_for_output("up\n", soon());
  job->signal(SIGTERM);
  EXPECT_EQ(job->wait_exit(soon()), 143);
  EXPECT_EQ(job->out(), "up\nsaving\n");
}

// Slurm sends the signal only to the ranks, so the script does not receive it.
TEST_F(BatchScriptRun, IsRequeuedWhenItSavedBeforeItWasPreempted) {
  for (const bool is_of_this_turn : {true, false}) {
    answer_of_slurm(is_of_this_turn ? "PreemptTime=2026-03-01T10:00:00"
                                    : "PreemptTime=2026-03-01T09:59:59");
    const auto job = start("echo saving; exit 143\n", "");
    EXPECT_EQ(job->wait_exit(soon()), 143) << job->error();
    EXPECT_EQ(job->out(), is_of_this_turn ? "saving\nscontrol requeue 42\n" : "saving\n");
  }
  answer_of_slurm("PreemptTime=2026-03-01T10:30:00");
  const auto done = start("exit 0\n", "");
  EXPECT_EQ(done->wait_exit(soon()), 0);
  EXPECT_EQ(done->out(), "") << "the job had ended before the preemption";
}

}  // namespace
}  // namespace trireme::cli
