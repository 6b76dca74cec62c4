// Goal:   an elastic job on several hosts continues whatever is killed: a worker, a host with
//         everything on it, a connection, the launcher; it grows and shrinks over hosts; it ends on
//         all hosts.
// Method: the real program and a real sshd that represents two hosts; a worker that does not train
//         but uses the job's store.

#include <signal.h>

#include <set>

#include "tests/process/hosts_fixture.h"
#include "trireme/base/file/file.h"
#include "trireme/cluster/launch/elastic/elastic_job.h"
#include "trireme/cluster/launch/hosts/dispatch.h"
#include "trireme/cluster/launch/hosts/fleet.h"
#include "trireme/cluster/launch/job/card.h"
#include "trireme/cluster/launch/job/coordinator.h"
#include "trireme/testing/etcd_server.h"

namespace trireme {
namespace {

namespace job = cluster::launch::job;

class ElasticHostsTest : public HostsTest {
 protected:
  Command::Options elastic(const Words& more = {}, const std::string& hosts = kTwoHosts) {
    serve();
    Words words{"--elastic", "--name", "supple", "--output", output_.path().string()};
    words.insert(words.end(), more.begin(), more.end());
    return on_hosts(hosts, words, {build_folder() + "/tests/elastic_worker", done()});
  }
  std::string done() const { return (folder_.path() / "done").string(); }
  void finish(Command& running) const {
    write_file_atomically(done(), std::string_view("1"));
    EXPECT_EQ(running.wait_exit(soon()), 0) << running.error();
    EXPECT_TRUE(has_gone(running));
  }
  std::string events() const { return read_file(output_.path() / "events.jsonl"); }
  std::filesystem::path job_folder() const { return state_.runtime() / "trireme" / "supple"; }

  // The host on which this worker was started, from the job's events. The launcher writes the
  // event, and the worker's output may come earlier.
  std::string host_of(int worker) const {
    const std::string mark =
        "\"event\":\"worker started\",\"worker\":" + std::to_string(worker) + ",";
    for (const Deadline deadline = soon(); !deadline.is_past();) {
      const std::string all = events();
      const std::size_t at = all.find(mark);
      if (at == std::string::npos || all.find('\n', at) == std::string::npos) continue;
      const std::size_t host = all.find("\"host\":\"", at) + 8;
      return all.substr(host, all.find('"', host) - host);
    }
    return "nowhere";
  }
  pid_t launcher() const {
    const auto card = job::Card::load(job_folder() / "card.json");
    if (!card) throw Error(ErrorCode::NotFound, "the job has no card");
    return card->launcher;
  }
  std::string tell(const Words& words, int code = 0) const {
    Words whole{program()};
    whole.insert(whole.end(), words.begin(), words.end());
    Command command({.command = whole});
    EXPECT_EQ(command.wait_exit(soon()), code) << command.error();
    return command.out() + command.error();
  }

  TemporaryFolder folder_{"elastic-hosts"};
  TemporaryFolder output_{"elastic-hosts-output"};
};

// The output of a worker and its end come from an agent.
TEST_F(ElasticHostsTest, ALossOnAnotherHostIsReportedWithItsReason) {
  serve();
  const std::string text =
      "test $TRIREME_WORKER = 3 && { echo 'trireme-failure: the host is on fire' >&2; exit 1; }; "
      "echo begun $TRIREME_WORKER; while ! test -e " +
      done() + "; do sleep 0.02; done";
  Command running(on_hosts(kTwoHosts, {"--elastic", "--name", "supple"}, {"sh", "-c", text}));
  running.wait_for_output("begun 4", soon());
  finish(running);
  EXPECT_THAT(running.error(),
              HasSubstr("trireme: worker 3 on 127.0.0.2 was lost: the host is on fire\n"));
  EXPECT_THAT(running.error(), Not(HasSubstr("exit code")));
}

TEST_F(ElasticHostsTest, AKilledWorkerIsReplacedOnItsHost) {
  Command running(elastic());
  running.wait_for_output("begun", soon(), 4);
  EXPECT_EQ(host_of(1), "127.0.0.1");
  EXPECT_EQ(host_of(2), "127.0.0.2");
  kill_one(worker_of(running, 3), SIGKILL);
  running.wait_for_output("begun 5", soon());
  EXPECT_THAT(running.error(), HasSubstr("worker 3 on 127.0.0.2 was lost: killed by signal 9"));
  EXPECT_EQ(host_of(4), "127.0.0.2");
  kill_one(worker_of(running, 1), SIGKILL);
  running.wait_for_output("begun 6", soon());
  EXPECT_EQ(host_of(5), "127.0.0.1");
  finish(running);
}

TEST_F(ElasticHostsTest, ALostHostReturnsWithNewWorkers) {
  Command running(elastic());
  running.wait_for_output("begun", soon(), 4);
  const std::vector<pid_t> there = SshServer::of_host("127.0.0.2", state_.processes());
  EXPECT_GE(there.size(), 5u) << "an agent of three processes, and two workers";
  for (const pid_t pid : there) kill_one(pid, SIGKILL);
  running.wait_for_output("host 127.0.0.2 was lost: ", soon());
  running.wait_for_output("begun 6", soon());
  EXPECT_THAT(running.error(), HasSubstr("host 127.0.0.2 is back, with 0 workers"));
  EXPECT_EQ(host_of(4), "127.0.0.2");
  EXPECT_EQ(host_of(5), "127.0.0.2");
  EXPECT_THAT(running.out(), Not(HasSubstr("leaves")));
  finish(running);
}

TEST_F(ElasticHostsTest, WorkersOutliveAConnection) {
  Command running(elastic());
  running.wait_for_output("begun", soon(), 4);
  kill_one(find("@trireme").back(), SIGKILL);
  running.wait_for_output("was lost: ssh was killed by signal 9", soon());
  running.wait_for_output("is back, with 2 workers", soon());
  // The workers were taken over: a dead worker is replaced, and their output is read.
  kill_one(worker_of(running, 3), SIGKILL);
  kill_one(worker_of(running, 1), SIGKILL);
  running.wait_for_output("begun 6", soon());
  finish(running);
  EXPECT_THAT(running.out(), Not(HasSubstr("begun 7")));
}

TEST_F(ElasticHostsTest, WorkersOutliveTheLauncherAndTheCoordinator) {
  Command running(elastic());
  running.wait_for_output("begun", soon(), 4);
  const auto coordinator = job::coordinator_of(job_folder());
  ASSERT_TRUE(coordinator);
  kill_one(*coordinator, SIGKILL);
  kill_one(launcher(), SIGKILL);
  running.wait_for_output("is back, with 2 workers", soon(), 2);
  kill_one(worker_of(running, 3), SIGKILL);
  running.wait_for_output("begun 5", soon());
  EXPECT_EQ(host_of(4), "127.0.0.2");
  finish(running);
  EXPECT_THAT(running.out(), Not(HasSubstr("begun 6")));
}

TEST_F(ElasticHostsTest, WithoutAWatchingProcessTheJobEndsOnAllHosts) {
  for (const bool is_launcher_killed : {false, true}) {
    Command running(elastic({"--orphan-timeout", "1"}, "localhost:1,127.0.0.2:1"));
    running.wait_for_output("begun", soon(), 2);
    const pid_t second = launcher();
    const auto begin = std::chrono::steady_clock::now();
    kill_one(running.pid(), SIGKILL);
    if (is_launcher_killed) {
      kill_one(second, SIGKILL);
    } else {
      running.wait_for_output("no process watches the job any more: ending it", soon());
      EXPECT_GT(std::chrono::steady_clock::now() - begin, 900ms) << "the job ended too early";
    }
    EXPECT_TRUE(has_gone(running));
  }
}

TEST_F(ElasticHostsTest, GrowsAndShrinksOverHosts) {
  Command running(elastic({"--max-workers", "6"}, "127.0.0.1:1,127.0.0.2:1"));
  running.wait_for_output("begun", soon(), 2);
  tell({"scale", "supple", "4"});
  running.wait_for_output("begun 4", soon());
  EXPECT_EQ(host_of(2), "127.0.0.1");
  EXPECT_EQ(host_of(3), "127.0.0.2");
  EXPECT_THAT(tell({"join", "supple"}), HasSubstr("worker 4"));
  running.wait_for_output("begun 5", soon());
  EXPECT_THAT(tell({"jobs"}), HasSubstr("5/5"));
  tell({"scale", "supple", "2"});
  running.wait_for_output("leaves", soon(), 3);
  EXPECT_THAT(tell({"scale", "supple", "7"}, 2), HasSubstr("has from 1 to 6 workers, not 7"));
  finish(running);
}

TEST_F(ElasticHostsTest, RunsWithAStoreInEtcd) {
  if (!testing::EtcdServer::program()) GTEST_SKIP() << testing::EtcdServer::kMissing;
  const testing::EtcdServer etcd;
  Command running(elastic({"--store", etcd.url()}, "127.0.0.1:1,127.0.0.2:1"));
  running.wait_for_output("begun", soon(), 2);
  kill_one(worker_of(running, 1), SIGKILL);
  running.wait_for_output("begun 3", soon());
  EXPECT_EQ(host_of(2), "127.0.0.2");
  EXPECT_FALSE(job::coordinator_of(job_folder()));
  write_file_atomically(done(), std::string_view("1"));
  EXPECT_EQ(running.wait_exit(soon()), 0) << running.error();
}

TEST_F(ElasticHostsTest, AStopEndsTheJobOnAllHosts) {
  Command running(elastic());
  running.wait_for_output("begun", soon(), 4);
  running.signal(SIGTERM);
  EXPECT_EQ(running.wait_exit(soon()), 143) << running.error();
  EXPECT_TRUE(has_gone(running));
}

TEST_F(ElasticHostsTest, WithoutItsFrontTheJobStillReplacesWorkers) {
  Command running(elastic({}, "localhost:1,127.0.0.2:1"));
  running.wait_for_output("begun", soon(), 2);
  kill_one(running.pid(), SIGKILL);
  running.wait_for_output("the job continues for 60 s and then ends", soon());
  kill_one(worker_of(running, 1), SIGKILL);
  running.wait_for_output("begun 3", soon());
  EXPECT_EQ(host_of(2), "127.0.0.2");
  tell({"stop", "supple"});
  EXPECT_TRUE(has_gone(running));
}

TEST_F(ElasticHostsTest, AHostThatCannotTakePartIsNamedAndNothingStarts) {
  Command running(elastic({}, "127.0.0.1:1,127.0.0.3:1"));
  EXPECT_EQ(running.wait_exit(soon()), 1);
  EXPECT_THAT(running.error(), HasSubstr("host 127.0.0.3 cannot take part: "));
  EXPECT_THAT(running.out(), Not(HasSubstr("begun")));
  EXPECT_TRUE(has_gone(running));
}

}  // namespace
}  // namespace trireme
