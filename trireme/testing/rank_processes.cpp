#include "trireme/testing/rank_processes.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <thread>

#include "trireme/base/check.h"
#include "trireme/base/error.h"

extern char** environ;

namespace trireme::testing {
namespace {

constexpr const char* kRankVariable = "TRIREME_TESTING_RANK";
constexpr const char* kCountVariable = "TRIREME_TESTING_COUNT";
// If set, children print their GoogleTest output.
constexpr const char* kLoudVariable = "TRIREME_TESTING_LOUD";
constexpr int kToTest = 3;  // the descriptor on which the child sends; it receives on 0
constexpr int kBodyFailed = 97;

void write_line(int descriptor, std::string_view line) {
  std::string text(line);
  text += '\n';
  // Shorter than PIPE_BUF, so that lines of several threads are not interleaved.
  TRIREME_CHECK(text.size() < 4096, "a line of ", text.size(), " bytes");
  ssize_t put = -1;
  do {
    put = ::write(descriptor, text.data(), text.size());
  } while (put < 0 && errno == EINTR);
}

bool take_line(std::string& pending, std::string& line) {
  const std::size_t end = pending.find('\n');
  if (end == std::string::npos) return false;
  line = pending.substr(0, end);
  pending.erase(0, end + 1);
  return true;
}

// In a child: runs the body and does not return.
[[noreturn]] void run_body(const RankProcesses::Body& body) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  RankChannel channel(std::atoi(std::getenv(kRankVariable)),
                      std::atoi(std::getenv(kCountVariable)));
  try {
    body(channel);
  } catch (const std::exception& error) {
    channel.say(std::string("threw ") + error.what());
    ::_exit(kBodyFailed);
  }
  ::_exit(::testing::Test::HasFailure() ? kBodyFailed : 0);
}

std::string current_test() {
  const ::testing::TestInfo* info = ::testing::UnitTest::GetInstance()->current_test_info();
  TRIREME_CHECK(info != nullptr, "rank processes belong to a test");
  return std::string(info->test_suite_name()) + "." + info->name();
}

struct Pipe {
  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw system_error("cannot make a pipe", errno);
    read = Descriptor(ends[0]);
    write = Descriptor(ends[1]);
  }
  Descriptor read;
  Descriptor write;
};

}  // namespace

void RankChannel::say(std::string_view line) {
  write_line(kToTest, line);
}

std::string RankChannel::hear() {
  std::string line;
  while (!take_line(pending_, line)) {
    char buffer[4096];
    const ssize_t got = ::read(STDIN_FILENO, buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) ::_exit(0);
    pending_.append(buffer, static_cast<std::size_t>(got));
  }
  return line;
}

void RankProcesses::run_if_child(const Body& body) {
  if (std::getenv(kRankVariable) != nullptr) run_body(body);
}

RankProcesses::RankProcesses(const Options& options, const Body& body) {
  run_if_child(body);
  children_.resize(static_cast<std::size_t>(options.count));
  // A rank that exited early must not kill the test by SIGPIPE; hear() reports the rank's last
  // line.
  ::signal(SIGPIPE, SIG_IGN);
  for (int rank = 0; rank < options.count; ++rank) start(rank, options);
}

void RankProcesses::start(int rank, const Options& options) {
  Pipe down;
  Pipe up;
  std::map<std::string, std::string> variables = options.environment;
  variables[kRankVariable] = std::to_string(rank);
  variables[kCountVariable] = std::to_string(options.count);
  std::vector<std::string> texts;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    // A child must run its one test, independent of the parent's sharding and other GTEST_
    // variables.
    if (std::string_view(*entry).starts_with("GTEST_")) continue;
    const std::string_view text(*entry);
    if (!variables.contains(std::string(text.substr(0, text.find('='))))) texts.emplace_back(text);
  }
  for (const auto& [name, value] : variables) texts.push_back(name + "=" + value);
  std::vector<char*> environment;
  for (std::string& text : texts) environment.push_back(text.data());
  environment.push_back(nullptr);

  std::string program = "/proc/self/exe";
  std::string filter = "--gtest_filter=" + current_test();
  std::string disabled = "--gtest_also_run_disabled_tests";
  char* arguments[] = {program.data(), filter.data(), disabled.data(), nullptr};
  // The test ignores SIGPIPE; its ranks start with the default.
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t defaults;
  ::sigemptyset(&defaults);
  ::sigaddset(&defaults, SIGPIPE);
  ::posix_spawnattr_setsigdefault(&attributes, &defaults);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, down.read.get(), STDIN_FILENO);
  if (std::getenv(kLoudVariable) == nullptr) {
    ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  }
  ::posix_spawn_file_actions_adddup2(&actions, up.write.get(), kToTest);
  Child& made = child(rank);
  const int error = ::posix_spawn(&made.pid, program.c_str(), &actions, &attributes, arguments,
                                  environment.data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) {
    made.pid = -1;
    throw system_error("cannot start a rank", error);
  }
  made.to = std::move(down.write);
  made.from = std::move(up.read);
}

RankProcesses::~RankProcesses() {
  for (const Child& child : children_) {
    if (child.pid > 0) ::kill(child.pid, SIGKILL);
  }
  for (Child& child : children_) {
    if (child.pid > 0) ::waitpid(child.pid, nullptr, 0);
  }
}

RankProcesses::Child& RankProcesses::child(int rank) {
  return children_.at(static_cast<std::size_t>(rank));
}

pid_t RankProcesses::pid(int rank) const {
  return children_.at(static_cast<std::size_t>(rank)).pid;
}

void RankProcesses::say(int rank, std::string_view line) {
  write_line(child(rank).to.get(), line);
}

std::string RankProcesses::hear(int rank, Deadline deadline) {
  Child& from = child(rank);
  std::string line;
  while (!take_line(from.pending, line)) {
    pollfd entry{from.from.get(), POLLIN, 0};
    const int count = ::poll(&entry, 1, deadline.poll_timeout());
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) throw Error(ErrorCode::Deadline, "said nothing in time").with_peer(rank);
    char buffer[4096];
    const ssize_t got = ::read(from.from.get(), buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw Error(ErrorCode::PeerLost, "ended without a word").with_peer(rank);
    from.pending.append(buffer, static_cast<std::size_t>(got));
  }
  return line;
}

std::vector<std::string> RankProcesses::hear_all(Deadline deadline) {
  std::vector<std::string> lines(children_.size());
  for (int rank = 0; rank < count(); ++rank) {
    if (pid(rank) > 0) lines[static_cast<std::size_t>(rank)] = hear(rank, deadline);
  }
  return lines;
}

void RankProcesses::kill(int rank, int signal) const {
  if (pid(rank) > 0) ::kill(pid(rank), signal);
}

int RankProcesses::wait_exit(int rank, Deadline deadline) {
  Child& ended = child(rank);
  TRIREME_CHECK(ended.pid > 0, "rank ", rank, " was waited for already");
  int status = 0;
  while (::waitpid(ended.pid, &status, WNOHANG) == 0) {
    if (deadline.is_past()) throw Error(ErrorCode::Deadline, "did not end in time").with_peer(rank);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ended.pid = -1;
  return status;
}

}  // namespace trireme::testing
