// Goal:   every contender is started by the right launcher with the right arguments, and the error
//         for a missing program says how to get it.
// Method: command lines for tools that consist of names only.

#include "bench/comm/tools.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/error.h"

namespace trireme::bench {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;
using Words = std::vector<std::string>;

Tools all() {
  return {{"/b/trireme", "/b/ns.sh", true}, "/b/worker", "/b/gloo", "/b/mpi", "/usr/bin/mpirun"};
}

Options options(const std::string& backend) {
  Options result;
  result.backend = backend;
  result.ranks = 3;
  result.sizes = {64, 4096};
  result.seconds = 0.5;
  return result;
}

Options wired() {
  Options result = options("tcp");
  result.wire = 1e9;
  return result;
}

Words first(const Words& words, std::size_t count) {
  return {words.begin(), words.begin() + static_cast<std::ptrdiff_t>(count)};
}

TEST(Tools, RanksAreStartedByTheUsualLauncher) {
  for (const char* backend : {"shm", "tcp", "auto"}) {
    const cli::Program program = all().program_of(options(backend));
    EXPECT_THAT(first(program.words, 6),
                ElementsAre("/b/trireme", "run", "-n", "3", "--", "/b/worker"));
    EXPECT_THAT(program.words, IsSupersetOf(worker_words(options(backend))));
  }
}

TEST(Tools, ThreadsNeedNoLauncherAndMpiUsesMpirun) {
  EXPECT_EQ(all().program_of(options("thread")).words.front(), "/b/worker");
  EXPECT_THAT(first(all().program_of(options("mpi")).words, 6),
              ElementsAre("/usr/bin/mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "3",
                          "/b/worker"));
  Tools user = all();
  user.launch.is_root = false;
  EXPECT_THAT(user.program_of(options("mpi")).words, Not(Contains("--allow-run-as-root")));
}

TEST(Tools, PeersRunTheSameSizesForTheSameTime) {
  const Words gloo = all().program_of(options("gloo")).words;
  EXPECT_THAT(gloo, ElementsAre("/b/trireme", "run", "-n", "3", "--bind", "none", "--", "/b/gloo",
                                "64,4096", "0.5"));
  const Words mpi = all().program_of(options("openmpi")).words;
  EXPECT_THAT(Words(mpi.end() - 3, mpi.end()), ElementsAre("/b/mpi", "64,4096", "0.5"));
}

TEST(Tools, TheWireScriptIsKilledWithTheProgram) {
  const cli::Program program = all().program_of(wired());
  EXPECT_THAT(first(program.words, 5),
              ElementsAre("/b/ns.sh", "--each", "1", "1000000000", "/b/worker"));
  EXPECT_THAT(Words(program.words.end() - 2, program.words.end()),
              ElementsAre("--wire", "1000000000"));
  EXPECT_EQ(program.death_signal, SIGKILL);
}

TEST(Tools, TheErrorForAMissingProgramSaysHowToGetIt) {
  const Tools none;
  EXPECT_THAT(none.why_not(options("gloo")), HasSubstr("torch"));
  EXPECT_THAT(none.why_not(options("openmpi")), HasSubstr("libopenmpi-dev"));
  EXPECT_THAT(none.why_not(options("shm")), HasSubstr("TRIREME_TESTS=ON"));
  EXPECT_EQ(all().why_not(options("gloo")), "");
  EXPECT_EQ(all().why_not(options("openmpi")), "");
  EXPECT_EQ(all().why_not(wired()), "");
  EXPECT_NE(none.launch.why_no_wire(), "");
  EXPECT_THROW(none.program_of(options("shm")), Error);
  EXPECT_THROW(none.program_of(options("gloo")), Error);
  EXPECT_THROW(none.program_of(wired()), Error);
}

}  // namespace
}  // namespace trireme::bench
