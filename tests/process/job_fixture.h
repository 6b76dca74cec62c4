// JobTest runs the real `trireme` and requires that it leaves nothing behind: no process, no file
// in /dev/shm, no job's folder.

#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/types.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/folders.h"
#include "trireme/base/deadline.h"
#include "trireme/base/error.h"
#include "trireme/cluster/launch/host/process_tree.h"
#include "trireme/cluster/launch/watch/warden.h"
#include "trireme/testing/command_process.h"
#include "trireme/testing/host_state.h"

namespace trireme {

using namespace std::chrono_literals;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

class JobTest : public ::testing::Test {
 protected:
  using Words = std::vector<std::string>;
  using Command = testing::CommandProcess;

  void TearDown() override {
    for (const std::string& left : state_.leftovers(soon())) {
      ADD_FAILURE() << "left behind: " << left;
    }
  }

  // Generous, so that it only expires when something hangs.
  static Deadline soon() { return Deadline::after(60s); }
  static const std::string& program() {
    static const std::string path = build_folder() + "/trireme";
    return path;
  }

  // `trireme run` with these options and a shell script as every rank.
  static Command::Options script(const Words& options, const std::string& text) {
    Words words{program(), "run"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", "/bin/sh", "-c", text});
    return {.command = words};
  }

  // Never -1 or 0, with which kill(2) signals many processes.
  static void kill_one(pid_t pid, int signal) {
    if (pid <= 1) throw Error(ErrorCode::Misuse, "no such process to kill");
    kill(pid, signal);
  }

  static pid_t only_child_of(pid_t parent) {
    for (const auto& process : cluster::launch::host::list_processes()) {
      if (process.parent == parent) return process.pid;
    }
    throw Error(ErrorCode::NotFound, "process " + std::to_string(parent) + " has no child");
  }
  // The warden of this front; an elastic job has none.
  static pid_t warden_of(pid_t front) {
    const pid_t child = only_child_of(front);
    std::ifstream file("/proc/" + std::to_string(child) + "/comm");
    std::string name;
    std::getline(file, name);
    return name == cluster::launch::kWardenName ? child : 0;
  }
  static pid_t launcher_of(pid_t front) {
    const pid_t warden = warden_of(front);
    return only_child_of(warden > 0 ? warden : front);
  }
  static pid_t launcher_of(const Command& job) { return launcher_of(job.pid()); }

  // The number after `text` in the job's output. Waits for it: each rank's lines come through a
  // separate pipe, so that later output of another rank may arrive first.
  static pid_t pid_after(Command& job, const std::string& text) {
    return std::stoi(job.wait_for_line(text, soon()));
  }
  // As the test's workers print it themselves.
  static pid_t worker_of(Command& job, int worker) {
    return pid_after(job, "worker " + std::to_string(worker) + " pid ");
  }

  testing::HostState state_;
};

}  // namespace trireme
