// Goal:   the line that ssh runs finds the program, reads it from standard input if it is missing,
//         and refuses one that differs; any shell passes the line on unchanged.
// Method: the line in a shell of this host, with a script instead of the program.

#include "trireme/cluster/launch/hosts/protocol/bootstrap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>

#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/testing/command_process.h"

namespace trireme::cluster::launch::hosts {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
namespace fs = std::filesystem;
using trireme::testing::CommandProcess;

constexpr const char* kProgram = "#!/bin/sh\necho \"agent: $*\"\ncat\n";

class Bootstrap : public ::testing::Test {
 protected:
  Bootstrap() {
    write_file_atomically(program_, kProgram, {.mode = 0755});
    self_ = JobFile::of(program_);
  }
  std::unique_ptr<CommandProcess> start(const std::string& shell = "/bin/sh") const {
    return std::make_unique<CommandProcess>(CommandProcess::Options{
        .command = {shell, "-c", bootstrap_line(self_)},
        .environment = {{"TRIREME_CACHE", (folder_.path() / "cache").string()}}});
  }
  static Deadline soon() { return Deadline::after(20s); }

  TemporaryFolder folder_{"it's a test"};
  fs::path program_ = folder_.path() / "program";
  JobFile self_;
};

TEST_F(Bootstrap, UsesTheInstalledProgramIfItIsTheSame) {
  for (const char* shell : {"/bin/sh", "/bin/bash"}) {
    const auto process = start(shell);
    process->type("frames");
    process->close_input();
    EXPECT_EQ(process->wait_exit(soon()), 0) << process->error();
    EXPECT_EQ(process->out(), std::string(kHere) + "agent: agent\nframes");
  }
  EXPECT_FALSE(fs::exists(folder_.path() / "cache"));
}

TEST_F(Bootstrap, ReceivesAMissingProgramAndKeepsACopy) {
  fs::remove(program_);
  const auto process = start();
  process->wait_for_output("@trireme want\n", soon());
  process->type(kProgram);
  process->wait_for_output("agent: agent\n", soon());
  process->type("frames");
  process->close_input();
  EXPECT_EQ(process->wait_exit(soon()), 0) << process->error();
  EXPECT_EQ(process->out(), std::string(kWant) + std::string(kHere) + "agent: agent\nframes");
  EXPECT_EQ(read_file(folder_.path() / "cache" / self_.digest / "trireme"), kProgram);

  const auto again = start();
  again->close_input();
  EXPECT_EQ(again->wait_exit(soon()), 0);
  EXPECT_EQ(again->out(), std::string(kHere) + "agent: agent\n");
}

TEST_F(Bootstrap, RefusesAProgramThatDiffers) {
  write_file_atomically(program_, "#!/bin/sh\necho evil\n", {.mode = 0755});
  const auto process = start();
  process->wait_for_output("@trireme want\n", soon());
  process->type(std::string(self_.size, 'x'));
  process->close_input();
  EXPECT_EQ(process->wait_exit(soon()), 1);
  EXPECT_THAT(process->error(), HasSubstr("could not be copied"));
  EXPECT_TRUE(fs::is_empty(folder_.path() / "cache" / self_.digest));
}

TEST_F(Bootstrap, ContainsNothingThatALoginShellWouldChange) {
  const std::string line = bootstrap_line({.path = "/a/b", .size = 1, .digest = "00"});
  EXPECT_EQ(line.find_first_of("!\\\n"), std::string::npos);
}

}  // namespace
}  // namespace trireme::cluster::launch::hosts
