// Goal:   an elastic job survives its workers: they are replaced, also all at once, within bounds.
// Method: the real program; shell scripts as workers, which the test kills or which fail by number.

#include <signal.h>

#include <filesystem>
#include <fstream>

#include "tests/process/job_fixture.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"

namespace trireme {
namespace {

class ElasticTest : public JobTest {
 protected:
  // Runs until the file `done` exists.
  std::string until_done() const {
    return "echo worker $TRIREME_WORKER pid $$ $*; while ! test -e " + done() +
           "; do sleep 0.02; done; exit 0";
  }
  std::string done() const { return (folder_.path() / "done").string(); }
  void finish() const { write_file_atomically(done(), std::string_view("1")); }

  static Command::Options elastic(const Words& options, const std::string& text) {
    Words words{"--elastic", "--name", "supple"};
    words.insert(words.end(), options.begin(), options.end());
    return script(words, text);
  }

  // Whether that process has its own handler for SIGTERM.
  static bool catches_term(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/status");
    for (std::string word; file >> word;) {
      unsigned long long caught = 0;
      if (word == "SigCgt:" && file >> std::hex >> caught)
        return (caught >> (SIGTERM - 1) & 1) != 0;
    }
    return false;
  }

  TemporaryFolder folder_{"elastic-test"};
};

TEST_F(ElasticTest, AKilledWorkerIsReplacedAndTheJobSucceeds) {
  const std::string kept = folder_.path() / "kept";
  Command job(elastic({"-n", "3", "--output", kept}, until_done()));
  job.wait_for_output("pid", soon(), 3);
  kill_one(worker_of(job, 1), SIGKILL);
  job.wait_for_output("[3] worker 3 pid", soon());
  finish();
  EXPECT_EQ(job.wait_exit(soon()), 0) << job.error();
  EXPECT_THAT(job.error(), HasSubstr("worker 1 was lost: killed by signal 9"));
  EXPECT_THAT(job.error(), Not(HasSubstr("failed")));
  const std::string events = read_file(kept + "/events.jsonl");
  EXPECT_THAT(events, HasSubstr("\"event\":\"worker lost\",\"worker\":1"));
  EXPECT_THAT(events, HasSubstr("\"oom\":false"));
  EXPECT_THAT(events, HasSubstr("\"event\":\"worker started\",\"worker\":3"));
}

TEST_F(ElasticTest, AWorkerKnowsThatItsJobIsElastic) {
  Command job(elastic({"-n", "2", "--orphan-timeout", "7.5"},
                      "echo $TRIREME_RANK/$TRIREME_SIZE $TRIREME_WORKER $TRIREME_ELASTIC "
                      "$TRIREME_LOCAL_RANK $TRIREME_ORPHAN_TIMEOUT"));
  EXPECT_EQ(job.wait_exit(soon()), 0) << job.error();
  EXPECT_THAT(job.out(), HasSubstr("[0] 0/2 0 1 0 7.5"));
  EXPECT_THAT(job.out(), HasSubstr("[1] 1/2 1 1 1 7.5"));
}

TEST_F(ElasticTest, TheJobRestartsWhenAllWorkersAreKilled) {
  Command job(elastic({"-n", "3"}, until_done()));
  job.wait_for_output("pid", soon(), 3);
  for (int worker : {0, 1, 2}) kill_one(worker_of(job, worker), SIGSTOP);
  for (int worker : {0, 1, 2}) kill_one(worker_of(job, worker), SIGKILL);
  job.wait_for_output("pid", soon(), 6);
  EXPECT_THAT(job.error(), HasSubstr("all workers are gone: restarting the job with 3"));
  finish();
  EXPECT_EQ(job.wait_exit(soon()), 0) << job.error();
  EXPECT_THAT(job.out(), HasSubstr("[5] worker 5 pid"));
}

TEST_F(ElasticTest, ACrashLoopEndsTheJobWithTheReasonAndTheLastOutput) {
  Command job(elastic({"-n", "2"},
                      "test $TRIREME_WORKER = 0 && exec sleep 1000; echo no such luck; exit 9"));
  EXPECT_EQ(job.wait_exit(soon()), 9);
  EXPECT_THAT(job.error(), HasSubstr("crash loop: worker 3 died "));
  EXPECT_THAT(job.error(), HasSubstr("after its start, the third in a row"));
  EXPECT_THAT(job.error(), HasSubstr("worker 3 failed: exit code 9"));
  EXPECT_THAT(job.error(), HasSubstr("    no such luck"));
}

TEST_F(ElasticTest, RestartsAreBounded) {
  Command job(elastic({"-n", "2", "--restarts", "1"}, until_done()));
  job.wait_for_output("pid", soon(), 2);
  kill_one(worker_of(job, 1), SIGKILL);
  job.wait_for_output("pid", soon(), 3);
  kill_one(worker_of(job, 2), SIGKILL);
  EXPECT_EQ(job.wait_exit(soon()), 137);
  EXPECT_THAT(job.error(), HasSubstr("restarts used up"));
}

TEST_F(ElasticTest, WorkersThatRefuseTheirInputAreNotReplaced) {
  Command job(elastic({"-n", "2"}, "echo 'trireme-failure: no such recipe' >&2; exit 2"));
  EXPECT_EQ(job.wait_exit(soon()), 2);
  EXPECT_THAT(job.error(),
              EndsWith("trireme: a worker failed for a reason that a replacement would meet again\n"
                       "trireme: no such recipe\n"));
  EXPECT_THAT(job.error(), Not(HasSubstr("was lost")));
}

// The worker that continues never sees the reason, so the loss must carry it.
TEST_F(ElasticTest, ALossIsReportedWithItsReasonAtOnce) {
  const std::string failing =
      "test $TRIREME_WORKER = 1 && { echo 'trireme-failure: the host is on fire' >&2; exit 1; }; ";
  Command job(elastic({"-n", "2"}, failing + until_done()));
  job.wait_for_output("[2] worker 2 pid", soon());
  finish();
  EXPECT_EQ(job.wait_exit(soon()), 0) << job.error();
  EXPECT_THAT(job.error(), EndsWith("trireme: worker 1 was lost: the host is on fire\n"));
  EXPECT_THAT(job.error(), Not(HasSubstr("exit code")));
}

TEST_F(ElasticTest, AWorkerThatTheOthersRefuseIsNotReplaced) {
  const std::string refused = "test $TRIREME_WORKER = 1 && exit 79; ";
  Command job(elastic({"-n", "2", "--restarts", "1"}, refused + until_done()));
  job.wait_for_output("continuing with 1 worker", soon());
  finish();
  EXPECT_EQ(job.wait_exit(soon()), 0) << job.error();
  EXPECT_THAT(job.out(), Not(HasSubstr("worker 2 pid")));
  Command larger(elastic({"-n", "2", "--min-workers", "2"}, refused + "exec sleep 1000"));
  EXPECT_EQ(larger.wait_exit(soon()), 79) << "two workers are required";
  EXPECT_THAT(larger.error(), HasSubstr("a replacement would meet again"));
}

TEST_F(ElasticTest, StopsLikeAJobOfFixedSize) {
  Command job(elastic({"-n", "2"}, until_done()));
  job.wait_for_output("pid", soon(), 2);
  job.signal(SIGTERM);
  EXPECT_EQ(job.wait_exit(soon()), 143);
  EXPECT_THAT(job.out(), Not(HasSubstr("worker 2")));
}

// Worker 0 waits for the second worker, which never joins, and is asked to end: the training is not
// done yet.
TEST_F(ElasticTest, AWorkerStoppedWhileItWaitsToJoinIsReplaced) {
  const std::string recipe = folder_.path() / "tiny.toml";
  write_file_atomically(recipe, std::string_view(R"(
[model]
kind = "mlp"
hidden_sizes = [8]
[data]
kind = "synthetic"
task = "classification"
sizes = [4]
classes = 2
count = 16
test_count = 8
[train]
global_batch_size = 4
steps = 4
[elastic]
enabled = true
)"));
  std::filesystem::create_directories(folder_.path() / "job");
  const std::string worker = build_folder() + "/trireme-worker train --recipe " + recipe +
                             " --output " + (folder_.path() / "job").string();
  Command job(elastic({"-n", "2"},
                      "echo worker $TRIREME_WORKER pid $$; "
                      "test $TRIREME_WORKER = 0 && exec " +
                          worker + "; exec sleep 1000"));
  job.wait_for_output("pid", soon(), 2);
  const pid_t waiting = worker_of(job, 0);
  const Deadline deadline = soon();
  while (!catches_term(waiting) && !deadline.is_past()) {
    try {
      job.wait_exit(Deadline::after(5ms));
      break;
    } catch (const Error&) {
      // It continues, as expected.
    }
  }
  ASSERT_TRUE(catches_term(waiting)) << job.out() << job.error();
  kill_one(waiting, SIGTERM);
  job.wait_for_output("worker 2 pid", soon());
  EXPECT_THAT(job.error(), Not(HasSubstr("was lost"))) << "it left by itself";
  job.signal(SIGTERM);
  EXPECT_EQ(job.wait_exit(soon()), 143) << job.error();
}

TEST_F(ElasticTest, OptionsThatContradictEachOtherAreRefused) {
  const std::vector<Words> all{{"-n", "2", "--min-workers", "3"},
                               {"-n", "4", "--max-workers", "3"},
                               {"-n", "129"},
                               {"--min-workers", "0"}};
  for (const Words& words : all) {
    Command job(elastic(words, "true"));
    EXPECT_EQ(job.wait_exit(soon()), 2) << words.back();
  }
  Command plain(script({"--max-workers", "3"}, "true"));
  EXPECT_EQ(plain.wait_exit(soon()), 2);
  EXPECT_THAT(plain.error(), HasSubstr("add --elastic"));
}

}  // namespace
}  // namespace trireme
