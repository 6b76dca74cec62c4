// Goal:   a job's card is read back unchanged, and malformed files are not accepted.
// Method: a round trip; files of every malformed kind.

#include "trireme/cluster/launch/job/card.h"

#include <gtest/gtest.h>

#include <fstream>

#include "trireme/base/file/temporary_folder.h"

namespace trireme::cluster::launch::job {
namespace {

TEST(Card, IsReadBackUnchanged) {
  const TemporaryFolder folder("card-test");
  const auto path = folder.path() / "card.json";
  const Card card{.name = "demo",
                  .ranks = 4,
                  .is_elastic = true,
                  .living = 3,
                  .wanted = 5,
                  .state = "running",
                  .command = "sh -c \"echo 'x'\\n\"",
                  .started = 1700000000.25,
                  .front = 12,
                  .launcher = 13,
                  .workers = "0=14 2=16",
                  .output = "/tmp/ä b"};
  card.save(path);
  card.save(path);
  const auto loaded = Card::load(path);
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->name, card.name);
  EXPECT_EQ(loaded->ranks, card.ranks);
  EXPECT_TRUE(loaded->is_elastic);
  EXPECT_EQ(loaded->living, 3);
  EXPECT_EQ(loaded->wanted, 5);
  EXPECT_EQ(loaded->state, card.state);
  EXPECT_EQ(loaded->command, card.command);
  EXPECT_EQ(loaded->started, card.started);
  EXPECT_EQ(loaded->front, card.front);
  EXPECT_EQ(loaded->launcher, card.launcher);
  EXPECT_EQ(loaded->workers, card.workers);
  EXPECT_EQ(loaded->output, card.output);
}

TEST(Card, MalformedFilesAreRefused) {
  const TemporaryFolder folder("card-test");
  const auto path = folder.path() / "card.json";
  EXPECT_FALSE(Card::load(path).has_value());
  for (const char* text :
       {"", "{", "[]", "{}", "7", R"({"name":3})", R"({"name":"x","ranks":"y"})"}) {
    std::ofstream(path, std::ios::trunc) << text;
    EXPECT_FALSE(Card::load(path).has_value()) << text;
  }
}

}  // namespace
}  // namespace trireme::cluster::launch::job
