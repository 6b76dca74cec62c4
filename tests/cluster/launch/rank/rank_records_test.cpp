// Goal:   what ranks write is read while there is room for it, and the records of ranks whose exits
//         were forgotten are released once their output was read.
// Method: pipes that the test writes to; logs in a temporary folder.

#include "trireme/cluster/launch/rank/rank_records.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"

namespace trireme::cluster::launch {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class RankRecordsTest : public ::testing::Test {
 protected:
  // Returns the end of the rank's standard output to write to.
  Descriptor add(int rank) {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    records_.open(rank, false);
    records_.add_stream(rank, STDOUT_FILENO, Descriptor(ends[0]));
    return Descriptor(ends[1]);
  }
  static void write_to(const Descriptor& pipe, std::string_view text) {
    ASSERT_EQ(write(pipe.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  std::size_t pump() {
    std::vector<pollfd> waits;
    records_.add_waits(waits);
    poll(waits.data(), waits.size(), 0);
    records_.pump(waits);
    return waits.size();
  }
  std::string log(int rank) const {
    return read_file(folder_.path() / ("rank-" + std::to_string(rank) + ".log"));
  }

  TemporaryFolder folder_{"rank-records"};
  output::Writer writer_;
  RankRecords records_{{.folder = folder_.path(), .writer = &writer_}};
};

TEST_F(RankRecordsTest, OutputIsReadOnlyWhileThereIsAWriter) {
  const Descriptor pipe = add(0);
  records_.set_writer(nullptr);
  write_to(pipe, "first\n");
  EXPECT_EQ(pump(), 1u);
  EXPECT_EQ(log(0), "");
  records_.set_writer(&writer_);
  pump();
  EXPECT_EQ(log(0), "first\n");
  EXPECT_THAT(records_.tail(0).lines(), ElementsAre("first"));
}

TEST_F(RankRecordsTest, TheLastOutputIsReadBeforeTheLastLineIsWrittenOut) {
  Descriptor pipe = add(0);
  write_to(pipe, "no newline");
  int turns = 0;
  records_.drain(
      [&](Deadline) {
        if (++turns == 2) pipe.reset();
        pump();
      },
      [] { return false; });
  EXPECT_EQ(pump(), 0u) << "the pipe is closed";
  EXPECT_EQ(records_.finish(), 0);
  EXPECT_THAT(records_.tail(0).lines(), ElementsAre("no newline"));
}

TEST_F(RankRecordsTest, ForgottenRanksAreReleasedOnceTheirPipesAreClosed) {
  Descriptor pipes[] = {add(0), add(1), add(2)};
  for (const int rank : {0, 1, 2}) records_.add_exit({.rank = rank});
  records_.forget_exit(1);
  ASSERT_EQ(records_.exits().size(), 2u);
  EXPECT_EQ(records_.exits()[1].rank, 2);
  records_.forget_exits();
  EXPECT_THAT(records_.exits(), IsEmpty());
  EXPECT_THAT(records_.release_forgotten(), IsEmpty());
  pipes[2].reset();
  pump();
  EXPECT_THAT(records_.release_forgotten(), ElementsAre(2));
  EXPECT_EQ(pump(), 2u);
}

TEST_F(RankRecordsTest, ALogThatIsNotCompleteIsReported) {
  signal(SIGPIPE, SIG_IGN);
  const std::string log = (folder_.path() / "rank-0.log").string();
  ASSERT_EQ(mkfifo(log.c_str(), 0600), 0);
  Descriptor reader(open(log.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  records_.open(0, false);
  records_.add_stream(0, STDOUT_FILENO);
  EXPECT_EQ(records_.finish(), 0);
  reader.reset();
  records_.feed(0, STDOUT_FILENO, "lost");
  EXPECT_EQ(records_.finish(), EPIPE);
}

}  // namespace
}  // namespace trireme::cluster::launch
