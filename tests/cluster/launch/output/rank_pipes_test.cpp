// Goal:   the pipes of ranks that outlive their launcher can be opened again and written to
//         meanwhile, until they are removed.
// Method: pipes in a temporary folder.

#include "trireme/cluster/launch/output/rank_pipes.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "trireme/base/error.h"
#include "trireme/base/file/temporary_folder.h"

namespace trireme::cluster::launch::output {
namespace {

std::string read_from(const Descriptor& pipe) {
  char buffer[64];
  const ssize_t size = read(pipe.get(), buffer, sizeof(buffer));
  return size < 0 ? "" : std::string(buffer, static_cast<std::size_t>(size));
}

bool write_to(const Descriptor& pipe, std::string_view text) {
  return write(pipe.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

TEST(RankPipes, AreNamedOnlyIfTheRanksOutliveTheLauncher) {
  const TemporaryFolder folder("rank-pipes");
  const PipeEnds pipe = RankPipes(folder.path(), false).make(0, STDOUT_FILENO);
  EXPECT_TRUE(write_to(pipe.in, "line"));
  EXPECT_EQ(read_from(pipe.out), "line");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(RankPipes, TheNextLauncherReadsWhatWasWrittenWithoutOne) {
  const TemporaryFolder folder("rank-pipes");
  const RankPipes pipes(folder.path(), true);
  PipeEnds pipe = pipes.make(3, STDERR_FILENO);
  pipe.out.reset();
  EXPECT_TRUE(write_to(pipe.in, "unread"));
  EXPECT_EQ(read_from(pipes.open_reader(3, STDERR_FILENO)), "unread");
  pipes.remove(3);
  EXPECT_THROW(pipes.open_reader(3, STDERR_FILENO), Error);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace trireme::cluster::launch::output
