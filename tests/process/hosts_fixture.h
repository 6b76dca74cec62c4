// HostsTest runs the real `trireme` on two hosts, which are one machine: a real sshd at 127.0.0.1
// and at 127.0.0.2. Nothing may be left on either.

#pragma once

#include <sys/types.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "tests/process/job_fixture.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/testing/ssh_server.h"

namespace trireme {

using testing::SshServer;

inline constexpr const char* kTwoHosts = "127.0.0.1:2,127.0.0.2:2";

class HostsTest : public JobTest {
 protected:
  void SetUp() override {
    if (!SshServer::program()) GTEST_SKIP() << SshServer::kMissing;
  }
  void TearDown() override {
    server_.reset();
    JobTest::TearDown();
  }

  void serve(SshServer::Options options = {}) {
    options.environment = {{"XDG_RUNTIME_DIR", state_.runtime().string()},
                           {"TRIREME_CACHE", cache_.path().string()}};
    server_.emplace(options);
  }
  Command::Options on_hosts(const std::string& hosts, Words options, const Words& program_words) {
    Words words{program(), "run", "--ssh", server_->command(), "--hosts", hosts};
    words.insert(words.end(), options.begin(), options.end());
    words.push_back("--");
    words.insert(words.end(), program_words.begin(), program_words.end());
    return {.command = words};
  }
  static Words shell(const std::string& text) { return {"/bin/sh", "-c", text}; }

  static std::string command_of(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/cmdline", std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();  // empty if the process ends meanwhile
    return text.str();
  }
  // The processes of the job, on any host, whose command line contains this text; in the order of
  // starting.
  std::vector<pid_t> find(const std::string& text) const {
    std::vector<pid_t> found;
    for (const pid_t pid : state_.processes()) {
      if (command_of(pid).find(text) != std::string::npos) found.push_back(pid);
    }
    return found;
  }
  // Waits until only the server is alive.
  ::testing::AssertionResult has_gone(Command& job) const {
    const Deadline deadline = soon();
    std::vector<pid_t> left;
    do {
      try {
        job.wait_exit(Deadline::after(5ms));
      } catch (const Error&) {
        // Not yet; a dead front has to be reaped.
      }
      left = state_.processes();
      std::erase_if(left, [this](pid_t pid) {
        return pid == server_->pid() || command_of(pid).find("[listener]") != std::string::npos;
      });
    } while (!left.empty() && !deadline.is_past());
    if (left.empty()) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure()
           << "process " << left.front() << " survives: " << command_of(left.front());
  }

  TemporaryFolder cache_{"hosts-test"};
  std::optional<SshServer> server_;
};

}  // namespace trireme
