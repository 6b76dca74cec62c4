// Goal:   ranks meet under srun; `trireme submit` runs a job on all nodes of an allocation, and
//         requeues it when its time is up, or when it was preempted and ended in time.
// Method: a real Slurm with two nodes on this host, one instance for all tests, since starting it
//         takes longer than the rest.

#include <unistd.h>

#include "tests/process/job_fixture.h"
#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/testing/slurm_cluster.h"

namespace trireme {
namespace {

using testing::SlurmCluster;

class SlurmTest : public JobTest {
 protected:
  void SetUp() override {
    if (!SlurmCluster::is_installed()) GTEST_SKIP() << SlurmCluster::kMissing;
    slurm_.emplace();
  }
  void TearDown() override {
    slurm_.reset();
    // Where ranks without a launcher of Trireme meet; it remains for the next job.
    std::filesystem::remove(state_.runtime() / "trireme-ranks");
    JobTest::TearDown();
  }

  // Slurm's many processes are slow on a busy machine.
  static Deadline in_time() { return Deadline::after(90s); }

  struct Done {
    int code = 0;
    std::string out, error;
  };
  Done run(const Words& words) {
    Command command({.command = words, .environment = slurm_->environment()});
    const int code = command.wait_exit(in_time());
    return {.code = code, .out = command.out(), .error = command.error()};
  }
  // Waits until the job's output contains this text.
  void wait_for(const std::string& text) const {
    const Deadline deadline = in_time();
    while (!std::filesystem::exists(output_) ||
           read_file(output_).find(text) == std::string::npos) {
      if (deadline.is_past()) throw Error(ErrorCode::Deadline, "no " + text + describe());
      usleep(20000);
    }
  }
  // A rank that is not up has not set its trap yet and would end silently.
  void wait_for_all_up() const {
    for (const char* line :
         {"[0] up on n1\n", "[1] up on n1\n", "[2] up on n2\n", "[3] up on n2\n"}) {
      wait_for(line);
    }
  }
  std::string describe() const {
    const bool has_output = std::filesystem::exists(output_);
    return "\nin the output:\n" + (has_output ? read_file(output_) : "(none)") + slurm_->logs();
  }
  void wait_for_restart(const std::string& job) {
    const Deadline deadline = in_time();
    std::string shown;
    while (shown.find("Restarts=1") == std::string::npos) {
      shown = run({"/usr/bin/scontrol", "show", "job", job}).out;
      ASSERT_FALSE(deadline.is_past()) << shown << describe();
      usleep(50000);
    }
  }
  Done submit(const Words& job) {
    Words words{program(),
                "submit",
                "--slurm",
                "--nodes",
                "2",
                "--script",
                script_,
                "--ranks-each",
                "2",
                "--sbatch",
                "--output=" + output_.string(),
                "--"};
    words.insert(words.end(), job.begin(), job.end());
    return run(words);
  }

  TemporaryFolder folder_{"slurm-test"};
  std::filesystem::path output_ = folder_.path() / "out";
  std::string script_ = (folder_.path() / "job.sbatch").string();
  const std::string example_ = build_folder() + "/examples/02_all_reduce";
  std::optional<SlurmCluster> slurm_;
};

TEST_F(SlurmTest, RunsAndRequeuesJobs) {
  // One rank per task, on one node.
  const Done direct = run({"/usr/bin/srun", "-N1", "-n4", "--overcommit", example_});
  EXPECT_EQ(direct.code, 0) << direct.error;
  EXPECT_THAT(direct.out, HasSubstr("rank 3 of 4 had 1 3 0.5 and has 4 6 2\n"));

  // On two nodes. Ranks meet at rank 0, by default through the first node's name, which the network
  // does not know here.
  const std::string secret = (folder_.path() / "secret").string();
  write_file_atomically(secret, std::string(64, 'a') + "\n");
  std::filesystem::permissions(secret, std::filesystem::perms::owner_read);
  const Done across = run({"/usr/bin/env", "TRIREME_SECRET_FILE=" + secret,
                           "TRIREME_STORE=unix:" + (folder_.path() / "meeting.sock").string(),
                           "/usr/bin/srun", "-N2", "-n4", "--overcommit", example_});
  EXPECT_EQ(across.code, 0) << across.error;
  EXPECT_THAT(across.out, HasSubstr("rank 3 of 4 had 1 3 0.5 and has 4 6 2\n"));

  // One agent per node.
  EXPECT_EQ(submit({"run", example_}).code, 0);
  for (const char* rank : {"0", "1", "2", "3"}) {
    wait_for("[" + std::string(rank) + "] rank " + rank + " of 4 had 1 " + rank +
             " 0.5 and has 4 6 2\n");
  }

  const Words saving{"run", "--", "/bin/sh", "-c",
                     "trap 'echo saving; exit 143' TERM; echo up on $SLURMD_NODENAME; "
                     "while :; do sleep 0.02; done"};
  const Done second = submit(saving);
  EXPECT_THAT(second.out, HasSubstr("Submitted batch job 4"));
  wait_for_all_up();
  // Slurm sends this when the time is nearly up.
  EXPECT_EQ(run({"/usr/bin/scancel", "--batch", "--signal=USR1", "4"}).code, 0);
  for (const char* rank : {"0", "1", "2", "3"}) wait_for("[" + std::string(rank) + "] saving\n");
  wait_for_restart("4");
  run({"/usr/bin/scancel", "4"});

  // Preemption by another job: Slurm asks the ranks to end, which they do long before they are
  // killed.
  std::filesystem::remove(output_);
  EXPECT_THAT(submit(saving).out, HasSubstr("Submitted batch job 5"));
  wait_for_all_up();
  const Done urgent = run({"/usr/bin/srun", "-p", "urgent", "-N2", "-n4", "/bin/true"});
  EXPECT_EQ(urgent.code, 0) << urgent.error;
  for (const char* rank : {"0", "1", "2", "3"}) wait_for("[" + std::string(rank) + "] saving\n");
  wait_for_restart("5");
}

}  // namespace
}  // namespace trireme
