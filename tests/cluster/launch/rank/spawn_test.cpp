// Goal:   a rank's process starts with its own group, streams, environment, processors, mask and
//         limits, and dies with its parent; failures are reported.
// Method: shell one-liners; a forked parent that is killed.

#include "trireme/cluster/launch/rank/spawn.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>

#include "trireme/base/file/descriptor.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/cluster/launch/host/processors.h"

namespace trireme::cluster::launch {
namespace {

using ::testing::HasSubstr;

class Spawn : public ::testing::Test {
 protected:
  Spawn() {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    out_ = Descriptor(ends[0]);
    in_ = Descriptor(ends[1]);
    EXPECT_EQ(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    trouble_out_ = Descriptor(ends[0]);
    trouble_in_ = Descriptor(ends[1]);
    sigemptyset(&options_.mask);
    options_.program = "/bin/sh";
    options_.environment = {"PATH=/usr/bin:/bin"};
    options_.output = in_.get();
    options_.error = in_.get();
    options_.trouble = trouble_in_.get();
  }
  int run_script(const std::string& script) {
    options_.arguments = {"sh", "-c", script};
    return run();
  }
  int run() {
    const pid_t pid = spawn(options_);
    in_.reset();
    std::array<char, 4096> buffer;
    for (ssize_t size; (size = read(out_.get(), buffer.data(), buffer.size())) > 0;) {
      text_.append(buffer.data(), static_cast<std::size_t>(size));
    }
    int status = 0;
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  SpawnOptions options_;
  Descriptor out_, in_, trouble_out_, trouble_in_;
  std::string text_;
};

TEST_F(Spawn, ConnectsStreamsAndPassesEnvironmentAndArguments) {
  options_.environment.push_back("TRIREME_RANK=5");
  EXPECT_EQ(run_script("echo rank $TRIREME_RANK; echo oops >&2; cat; exit 7"), 7);
  EXPECT_EQ(text_, "rank 5\noops\n");
}

TEST_F(Spawn, TheProcessLeadsItsOwnGroup) {
  EXPECT_EQ(run_script("echo $$ $(cut -d' ' -f5 /proc/$$/stat)"), 0);
  const std::string pid = text_.substr(0, text_.find(' '));
  EXPECT_EQ(text_, pid + " " + pid + "\n");
}

TEST_F(Spawn, StandardInputIsInherited) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  options_.input = ends[0];
  ASSERT_EQ(write(ends[1], "words\n", 6), 6);
  close(ends[1]);
  EXPECT_EQ(run_script("cat"), 0);
  EXPECT_EQ(text_, "words\n");
  close(ends[0]);
}

TEST_F(Spawn, TheProcessRunsOnItsProcessors) {
  const int id = host::allowed_processors().back().id;
  options_.processors = {id};
  EXPECT_EQ(run_script("grep Cpus_allowed_list /proc/$$/status"), 0);
  EXPECT_THAT(text_, HasSubstr("\t" + std::to_string(id) + "\n"));
}

TEST_F(Spawn, AppliesLimitsAndSignalMask) {
  options_.files_max = rlimit{.rlim_cur = 123, .rlim_max = 200};
  sigset_t blocked;
  sigset_t before;
  sigfillset(&blocked);
  sigprocmask(SIG_SETMASK, &blocked, &before);
  EXPECT_EQ(run_script("ulimit -n; grep SigBlk /proc/self/status"), 0);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  EXPECT_THAT(text_, HasSubstr("123\n"));
  EXPECT_THAT(text_, HasSubstr("0000000000000000\n"));
}

TEST_F(Spawn, InheritsNoOtherDescriptors) {
  const auto name = [](const Descriptor& file) {
    return std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(file.get())).string();
  };
  const std::string trouble = name(trouble_in_);
  const std::string output = name(in_);
  EXPECT_EQ(run_script("ls -l /proc/$$/fd"), 0);
  EXPECT_THAT(text_, ::testing::Not(HasSubstr(trouble)));
  std::size_t count = 0;
  for (std::size_t at = text_.find(output); at != std::string::npos;
       at = text_.find(output, at + 1)) {
    ++count;
  }
  EXPECT_EQ(count, 2u) << "standard output and error, and no third";
}

TEST_F(Spawn, FailuresAreReported) {
  const TemporaryFolder folder("spawn-test");
  const auto path = folder.path() / "script";
  std::ofstream(path) << "#!/no/such/interpreter\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  options_.rank = 3;
  options_.program = path;
  options_.arguments = {"script"};
  EXPECT_EQ(run(), 127);
  SpawnTrouble trouble;
  ASSERT_EQ(read(trouble_out_.get(), &trouble, sizeof(trouble)), ssize_t{sizeof(trouble)});
  EXPECT_EQ(trouble.rank, 3);
  EXPECT_THAT(describe(trouble), HasSubstr("execve"));
  EXPECT_THAT(describe(trouble), HasSubstr("interpreter"));
}

TEST_F(Spawn, TheProcessDiesWithItsParent) {
  options_.arguments = {"sh", "-c", "echo started; exec sleep 100"};
  const pid_t parent = fork();
  if (parent == 0) {
    spawn(options_);
    while (true) pause();
  }
  in_.reset();
  std::array<char, 64> buffer;
  ASSERT_EQ(read(out_.get(), buffer.data(), buffer.size()), 8);
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  // The pipe ends when its last writer is dead.
  pollfd end{.fd = out_.get(), .events = POLLIN, .revents = 0};
  ASSERT_EQ(poll(&end, 1, 5000), 1) << "the rank outlived its parent";
  EXPECT_EQ(read(out_.get(), buffer.data(), buffer.size()), 0);
}

}  // namespace
}  // namespace trireme::cluster::launch
