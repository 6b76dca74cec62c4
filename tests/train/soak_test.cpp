// Goal:   the soak test accepts a job that survives its faults, and counts them; invalid
//         values of --chaos are refused before a job begins.
// Method: the real programs with two workers, of which one kills itself and one is killed.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/folders.h"
#include "tests/soak/subject.h"
#include "tests/soak/tormentor.h"
#include "tests/soak/trial.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/cluster/launch/host/process_tree.h"
#include "trireme/testing/command_process.h"

namespace trireme::soak {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::int64_t kFewSteps = 60;

class SoakTest : public ::testing::Test {
 protected:
  SoakTest() { write_file_atomically(recipe(), trial_recipe(kFewSteps)); }

  std::filesystem::path recipe() const { return folder_.path() / "recipe.toml"; }
  Trial trial(const std::string& name) const {
    return {.folder = folder_.path() / name,
            .recipe = recipe(),
            .draw = {.kind = "shared", .chaos = {}, .faults = {}},
            .workers = 2,
            .steps = kFewSteps,
            .program = build_folder() + "/trireme"};
  }

  TemporaryFolder folder_{"soak-test"};
};

TEST_F(SoakTest, JobsWithFaultsEndWithTheSameBits) {
  const Verdict whole = run_trial(trial("whole"));
  ASSERT_THAT(whole.mistakes, IsEmpty());
  EXPECT_THAT(whole.faults, IsEmpty());

  Trial hurt = trial("hurt");
  hurt.draw.chaos = "kill rank=0 step=30 at=update";
  hurt.draw.faults = {{.kind = FaultKind::Kill, .after = 1ms, .victim = 1},
                      {.kind = FaultKind::Coordinator, .after = 1ms}};
  hurt.undisturbed = &whole.book;
  hurt.undisturbed_job = folder_.path() / "whole/job";
  hurt.is_enough = [](int) { return false; };
  const Verdict verdict = run_trial(hurt);
  EXPECT_THAT(verdict.mistakes, IsEmpty());
  EXPECT_THAT(verdict.faults, Contains(HasSubstr("kill worker 1")));
  EXPECT_THAT(verdict.faults, Contains(HasSubstr("coordinator")));
}

TEST_F(SoakTest, AJobThatDiffersIsFoundOut) {
  Trial one = trial("one");
  const Verdict whole = run_trial(one);
  Trial other = trial("other");
  other.recipe = folder_.path() / "other.toml";
  std::string text = trial_recipe(kFewSteps);
  text.replace(text.find("0.001"), 5, "0.002");
  write_file_atomically(other.recipe, text);
  other.undisturbed = &whole.book;
  other.undisturbed_job = folder_.path() / "one/job";
  const Verdict verdict = run_trial(other);
  EXPECT_THAT(verdict.mistakes, Contains(HasSubstr("is not the undisturbed job's")));
  EXPECT_THAT(verdict.mistakes, Contains(HasSubstr("tensors differ")));
}

TEST_F(SoakTest, AJobThatIsGivenUpLeavesNothing) {
  std::map<int, pid_t> workers;
  {
    Subject subject({.folder = folder_.path() / "given-up",
                     .recipe = recipe(),
                     .settings = {},
                     .workers = 2,
                     .program = build_folder() + "/trireme"});
    const Deadline patience = Deadline::after(1min);
    while (subject.new_lines().empty() && !patience.is_past()) {
    }
    workers = subject.workers();
    EXPECT_EQ(workers.size(), 2u);
    EXPECT_TRUE(subject.coordinator());
    EXPECT_FALSE(subject.leftovers(Deadline::after(0s)).empty());
  }
  for (const auto& [worker, pid] : workers) {
    const auto process = cluster::launch::host::find_process(pid);
    EXPECT_TRUE(!process || process->is_dying) << worker;
  }
}

TEST_F(SoakTest, InvalidFaultsAreRefusedAtOnce) {
  const auto refused = [&](const std::string& chaos, const std::string& why) {
    testing::CommandProcess process(
        {.command = {build_folder() + "/trireme", "train", recipe().string(), "--output",
                     (folder_.path() / "refused").string(), "elastic.enabled=false", "--chaos",
                     chaos}});
    EXPECT_EQ(process.wait_exit(Deadline::after(1min)), 2) << chaos;
    EXPECT_THAT(process.error(), HasSubstr(why));
  };
  refused("kill rank=1", "are for elastic jobs");
  refused("kill step=1", "names no rank");
  refused("burn rank=1", "nothing is called burn");
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "refused"));
}

}  // namespace
}  // namespace trireme::soak
