// Goal:   an agent receives its order, fetches the files that its host lacks, waits for Go, and
//         gives up when the launcher does.
// Method: the launcher is a thread at the other end of a socket.

#include "trireme/cluster/launch/hosts/agent/intake.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <thread>

#include "trireme/base/error.h"
#include "trireme/base/file/descriptor.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"
#include "trireme/testing/code_of.h"
#include "trireme/testing/scoped_variable.h"

namespace trireme::cluster::launch::hosts {
namespace {

using ::testing::HasSubstr;

class AgentIntake : public ::testing::Test {
 protected:
  AgentIntake() {
    int ends[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    ours_ = Descriptor(ends[0]);
    theirs_ = Descriptor(ends[1]);
    order_.job = "demo";
    order_.command = {"/absent/program", "--recipe", "/absent/recipe.toml"};
    order_.program = "/absent/program";
  }

  // The launcher's side.
  LaunchFrame hear() {
    while (true) {
      if (auto frame = heard_.next()) return *std::move(frame);
      char buffer[4096];
      const ssize_t size = read(theirs_.get(), buffer, sizeof(buffer));
      if (size <= 0) throw Error(ErrorCode::PeerLost, "the agent is gone");
      heard_.feed({buffer, static_cast<std::size_t>(size)});
    }
  }
  void say(LaunchFrameKind kind, ByteView payload = {}) {
    const std::string frame = encode_frame(kind, payload);
    EXPECT_EQ(write(theirs_.get(), frame.data(), frame.size()), std::ssize(frame));
  }
  void send(std::uint32_t index, std::string_view piece) {
    say(LaunchFrameKind::JobFile, ByteWriter().put(index).append(bytes_of(piece)).bytes());
  }

  Descriptor ours_, theirs_;
  LaunchFrameReader heard_;
  StartOrder order_;
  TemporaryFolder cache_{"intake-test"};
  trireme::testing::ScopedVariable variable_{"TRIREME_CACHE", cache_.path().string()};
};

TEST_F(AgentIntake, FetchesMissingFiles) {
  const auto file = cache_.path() / "program";
  write_file_atomically(file, "program", {.mode = 0755});
  JobFile program = JobFile::of(file);
  program.path = "/absent/program";
  write_file_atomically(file, "");
  JobFile recipe = JobFile::of(file);
  recipe.path = "/absent/recipe.toml";
  order_.job_file = {program, recipe};
  std::thread launcher([&] {
    EXPECT_EQ(hear().kind, LaunchFrameKind::Hello);
    say(LaunchFrameKind::Order, order_.encode());
    EXPECT_EQ(decode_indexes(hear().payload), (std::vector<std::uint32_t>{0, 1}));
    send(0, "prog");
    say(LaunchFrameKind::Beat);
    send(0, "ram");
    send(0, "");
    send(1, "");
    EXPECT_EQ(hear().kind, LaunchFrameKind::Beat) << "a heartbeat is answered";
  });
  Intake intake(ours_.get(), ours_.get());
  const StartOrder order = intake.take();
  launcher.join();
  EXPECT_EQ(read_file(order.program), "program");
  EXPECT_EQ(order.command[0], order.program);
  EXPECT_EQ(order.command[1], "--recipe");
  EXPECT_EQ(read_file(order.command[2]), "");
  EXPECT_NE(order.command[2], "/absent/recipe.toml");
}

TEST_F(AgentIntake, EndsWhenTheLauncherDoes) {
  std::thread launcher([&] {
    EXPECT_EQ(hear().kind, LaunchFrameKind::Hello);
    theirs_.reset();
  });
  Intake intake(ours_.get(), ours_.get());
  EXPECT_EQ(testing::code_of([&] { intake.take(); }), ErrorCode::PeerLost);
  launcher.join();
}

TEST_F(AgentIntake, RefusesUnexpectedFrames) {
  say(LaunchFrameKind::End);
  Intake intake(ours_.get(), ours_.get());
  EXPECT_EQ(testing::code_of([&] { intake.take(); }), ErrorCode::Protocol);
  intake.tell_trouble("no");
  EXPECT_EQ(hear().kind, LaunchFrameKind::Hello);
  EXPECT_EQ(text_of(hear().payload), "no");
}

}  // namespace
}  // namespace trireme::cluster::launch::hosts
