// Goal:   a connection reaches the running agent, with all bytes already received; without an agent
//         nothing is lost.
// Method: an agent and a process with a new connection, both in one process; pipes as the
//         connection.

#include "trireme/cluster/launch/hosts/agent/handover.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <future>

#include "trireme/base/file/temporary_folder.h"

namespace trireme::cluster::launch::hosts {
namespace {

using namespace std::chrono_literals;

struct Pipe {
  Pipe() {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    out = Descriptor(ends[0]);
    in = Descriptor(ends[1]);
  }
  Descriptor out, in;
};

TEST(Handover, GivesAConnectionToTheRunningAgent) {
  const TemporaryFolder temporary("handover");
  const std::filesystem::path folder = temporary.path() / std::string(120, 'd');  // for a long path
  EXPECT_FALSE(Handover::give(folder, {}, Deadline::after(1s))) << "the folder does not exist yet";
  std::filesystem::create_directory(folder);
  const Handover agent(folder);
  EXPECT_FALSE(agent.take()) << "no connection was offered";
  Pipe to_agent;
  Pipe from_agent;
  const LauncherConnection wire{.input = std::move(to_agent.out),
                                .output = std::move(from_agent.in),
                                .feed = "tcp://10.0.0.1:1",
                                .rest = std::string("\0\1", 2)};
  auto given = std::async(std::launch::async,
                          [&] { return Handover::give(folder, wire, Deadline::after(20s)); });
  std::optional<LauncherConnection> taken;
  const Deadline deadline = Deadline::after(20s);
  while (!taken && !deadline.is_past()) {
    pollfd wait{.fd = agent.descriptor(), .events = POLLIN, .revents = 0};
    poll(&wait, 1, deadline.poll_timeout());
    taken = agent.take();
  }
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->feed, wire.feed);
  EXPECT_EQ(taken->rest, wire.rest);
  char byte = 0;
  ASSERT_EQ(write(to_agent.in.get(), "x", 1), 1);
  ASSERT_EQ(::read(taken->input.get(), &byte, 1), 1);
  EXPECT_EQ(byte, 'x');
  ASSERT_EQ(write(taken->output.get(), "y", 1), 1);
  ASSERT_EQ(::read(from_agent.out.get(), &byte, 1), 1);
  EXPECT_EQ(byte, 'y');
  EXPECT_EQ(given.wait_for(50ms), std::future_status::timeout)
      << "give() returns only when the agent has closed the connection";
  taken.reset();
  EXPECT_TRUE(given.get());
}

TEST(Handover, FailsWithoutARunningAgent) {
  const TemporaryFolder folder("handover");
  EXPECT_FALSE(Handover::give(folder.path(), {}, Deadline::after(1s)));
  {
    const Handover gone(folder.path());
  }
  EXPECT_FALSE(Handover::give(folder.path(), {}, Deadline::after(1s)));
}

}  // namespace
}  // namespace trireme::cluster::launch::hosts
