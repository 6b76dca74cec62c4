// Goal:   orders of a launcher and reports of an agent are decoded as they were encoded.
// Method: round trips; truncated and contradictory bytes.

#include "trireme/cluster/launch/hosts/protocol/order.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>

#include "trireme/base/error.h"

namespace trireme::cluster::launch::hosts {
namespace {

StartOrder some_order() {
  StartOrder order;
  order.job = "demo";
  order.secret = std::string(64, 'a');
  order.first = 2;
  order.ranks = 3;
  order.size = 5;
  order.command = {"./train", "--steps", "10", ""};
  order.program = "/data/train";
  order.environment = {"OMP_NUM_THREADS=2"};
  order.store = "tcp://10.0.0.1:4711";
  order.feed = "tcp://10.0.0.1:4712";
  order.host = 1;
  order.orphan_timeout = std::chrono::seconds(60);
  order.bind = false;
  order.grace = std::chrono::seconds(7);
  order.memory_each = 300'000'000;
  order.job_file = {{.path = "/data/train",
                     .size = std::uint64_t{5} << 32,
                     .digest = "ff",
                     .is_executable = true}};
  return order;
}

TEST(AgentOrder, IsDecodedAsItWasEncoded) {
  const StartOrder order = some_order();
  const StartOrder back = StartOrder::decode(order.encode());
  EXPECT_EQ(back.encode(), order.encode());
  EXPECT_EQ(back.command, order.command);
  EXPECT_EQ(back.first, 2);
  EXPECT_EQ(back.feed, order.feed);
  EXPECT_EQ(back.host, 1);
  EXPECT_EQ(back.orphan_timeout, order.orphan_timeout);
  EXPECT_EQ(back.grace, std::chrono::seconds(7));
  EXPECT_FALSE(back.bind);
  ASSERT_EQ(back.job_file.size(), 1u);
  EXPECT_EQ(back.job_file[0].size, std::uint64_t{5} << 32);
  EXPECT_TRUE(back.job_file[0].is_executable);
}

TEST(AgentOrder, RefusesTruncatedAndContradictoryBytes) {
  const Bytes whole = some_order().encode();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THROW(StartOrder::decode(ByteView(whole).first(size)), Error) << size;
  }
  StartOrder order = some_order();
  order.ranks = 4;
  EXPECT_THROW(StartOrder::decode(order.encode()), Error)
      << "the order has more ranks than the job";
  order.ranks = 0;
  EXPECT_THROW(StartOrder::decode(order.encode()), Error);
}

TEST(AgentOrder, ReportsOfRanksAreDecodedAsTheyWereEncoded) {
  const OutputPiece piece = decode_output(encode_output(3, 2, std::string_view("a\0b", 3)));
  EXPECT_EQ(piece.rank, 3);
  EXPECT_EQ(piece.target, 2);
  EXPECT_EQ(piece.bytes, std::string("a\0b", 3));
  const RankExit exit = decode_exit(encode_exit({.rank = 1,
                                                 .status = SIGKILL,
                                                 .signal_sent = SIGTERM,
                                                 .oom = host::OomKill::Proven,
                                                 .not_started = "no"}));
  EXPECT_EQ(exit.rank, 1);
  EXPECT_EQ(exit.status, SIGKILL);
  EXPECT_EQ(exit.signal_sent, SIGTERM);
  EXPECT_EQ(exit.oom, host::OomKill::Proven);
  EXPECT_EQ(exit.not_started, "no");
  const RankStart start = decode_start(encode_start({.rank = 7, .pid = 4711}));
  EXPECT_EQ(start.rank, 7);
  EXPECT_EQ(start.pid, 4711);
  const RankOrder rank =
      decode_rank_order(encode_rank_order({.rank = 9, .size = 4, .arguments = {"--resume"}}));
  EXPECT_EQ(rank.rank, 9);
  EXPECT_EQ(rank.size, 4);
  EXPECT_EQ(rank.arguments, std::vector<std::string>{"--resume"});
  const auto starts =
      decode_starts(encode_starts({{.rank = 3, .pid = 17}, {.rank = 5, .pid = 18}}));
  ASSERT_EQ(starts.size(), 2u);
  EXPECT_EQ(starts[1].rank, 5);
  EXPECT_EQ(starts[1].pid, 18);
  EXPECT_EQ(decode_indexes(encode_indexes({2, 0})), (std::vector<std::uint32_t>{2, 0}));
}

}  // namespace
}  // namespace trireme::cluster::launch::hosts
