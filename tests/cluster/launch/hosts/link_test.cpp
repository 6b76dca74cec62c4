// Goal:   a link separates the agent's frames from the output of a login shell, and reports why a
//         host was lost.
// Method: shell scripts in place of ssh.

#include "trireme/cluster/launch/hosts/link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>

#include <chrono>

namespace trireme::cluster::launch::hosts {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

class Heard final : public HostLink::Listener {
 public:
  void on_started(HostLink&, const RankStart& start) override {
    events.push_back("started " + std::to_string(start.rank));
  }
  void on_output(const OutputPiece& piece) override { events.push_back("output " + piece.bytes); }
  void on_ended(HostLink&, RankExit exit) override {
    events.push_back("ended " + std::to_string(exit.rank));
  }
  void on_living(HostLink& link, const std::vector<RankStart>& living) override {
    events.push_back("living " + std::to_string(living.size()));
    link.end();
  }
  void on_words(HostLink&, std::string_view line) override { words += std::string(line) + "\n"; }

  std::vector<std::string> events;
  std::string words;
};

// Runs the script in place of ssh until it has ended and all its output was read.
std::string run(const std::string& script, Heard& heard) {
  HostLink::Options options;
  options.host = "b";
  options.program = "/bin/sh";
  options.command = {"sh", "-c", script};
  sigemptyset(&options.mask);
  HostLink link(options, heard);
  link.start();
  const Deadline deadline = Deadline::after(20s);
  while (!link.is_over() && !deadline.is_past()) {
    std::vector<pollfd> waits;
    link.add_waits(waits, true);
    poll(waits.data(), waits.size(), 20);
    link.pump(steady_clock().now(), true);
    int status = 0;
    const pid_t pid = waitpid(-1, &status, WNOHANG);
    if (pid > 0) {
      EXPECT_TRUE(link.on_reaped(pid, status, steady_clock().now()));
    }
  }
  EXPECT_TRUE(link.is_over());
  return link.failure();
}

// A frame of this kind whose payload consists of so many zeros, as an argument of printf(1).
std::string frame(LaunchFrameKind kind, int zeros = 0) {
  std::string text = "printf '\\00" + std::to_string(zeros) + "\\000\\000\\000\\0" +
                     std::to_string(static_cast<int>(kind) / 8) +
                     std::to_string(static_cast<int>(kind) % 8);
  for (int i = 0; i < zeros; ++i) text += "\\000";
  return text + "'; ";
}

TEST(HostLink, SeparatesFramesFromTheOutputOfTheLoginShell) {
  Heard heard;
  // The End frame has five bytes.
  const std::string failure =
      run("echo Welcome to b; printf 'no newline'; echo; echo; echo "
          "@trireme here; " +
              frame(LaunchFrameKind::Beat) + frame(LaunchFrameKind::Living, 4) +
              "head -c 5 | od -An -tu1 >&2; exit 3",
          heard);
  EXPECT_EQ(heard.events, (std::vector<std::string>{"living 0"}));
  EXPECT_THAT(heard.words, HasSubstr("0   0   0   0  13"));
  EXPECT_THAT(failure, HasSubstr("0   0   0   0  13")) << "the last words";
}

TEST(HostLink, ReportsWhyAHostWasLost) {
  Heard heard;
  EXPECT_EQ(
      run("printf 'ssh: connect to host b port 22: Connection refused\\r\\n' >&2; exit 255", heard),
      "ssh: connect to host b port 22: Connection refused");
  EXPECT_EQ(run("exit 255", heard), "sh ended with exit code 255");
  EXPECT_EQ(run("kill -9 $$", heard), "sh was killed by signal 9");
  EXPECT_TRUE(heard.events.empty());
}

TEST(HostLink, DisconnectsAnAgentThatSendsInvalidFrames) {
  Heard heard;
  EXPECT_THAT(run("echo; echo @trireme here; echo hello world; exec sleep 1000", heard),
              HasSubstr("not a frame of this version of trireme"));
  EXPECT_THAT(
      run("echo; echo @trireme here; " + frame(LaunchFrameKind::End) + "exec sleep 1000", heard),
      HasSubstr("a frame that only a launcher sends"));
}

}  // namespace
}  // namespace trireme::cluster::launch::hosts
