// Goal:   `trireme bench comm` measures and verifies every operation on every backend, writes the
//         documented JSON, and leaves nothing behind, also when it is interrupted or killed.
// Method: the real program, tiny sizes and times.

#include <unistd.h>

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>

#include "tests/folders.h"
#include "tests/process/job_fixture.h"
#include "trireme/base/file/temporary_folder.h"

namespace trireme {
namespace {

class BenchTest : public JobTest {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(build_folder() + "/trireme-bench-comm")) {
      GTEST_SKIP() << "SKIPPED: this build has no benchmarks";
    }
  }

  static Command::Options bench(const Words& options) {
    Words words{program(), "bench", "comm"};
    words.insert(words.end(), options.begin(), options.end());
    return {.command = words};
  }

  std::vector<nlohmann::json> measure(Words options) {
    const std::string file = (folder_.path() / "results.json").string();
    options.insert(options.end(), {"--seconds", "0.001", "--json", file});
    Command run(bench(options));
    EXPECT_EQ(run.wait_exit(Deadline::after(60s)), 0) << run.out() << run.error();
    std::vector<nlohmann::json> lines;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) lines.push_back(nlohmann::json::parse(line));
    return lines;
  }

  TemporaryFolder folder_{"bench-test"};
};

// Long enough to be interrupted after its first case.
const std::vector<std::string> kLong{"--sizes", "64,1K,2K,3K,4K,5K,6K,7K,8K", "--seconds", "0.5"};

TEST_F(BenchTest, WritesOneLinePerSizeWithTheDocumentedFields) {
  const auto lines = measure({"--ranks", "2", "--backend", "shm", "--op", "all_reduce", "--sizes",
                              "64,4K,1M", "--symmetric"});
  ASSERT_EQ(lines.size(), 3u);
  for (const auto& line : lines) {
    EXPECT_EQ(line.size(), 13u);
    EXPECT_EQ(line["type"], "float32");
    EXPECT_EQ(line["p50"], line["seconds"]);
    EXPECT_GE(line["p99"], line["p50"]);
    EXPECT_GT(line["bound"]["share"], 0);
    EXPECT_TRUE(line["wire"].is_null());
    EXPECT_EQ(line["op"], "all_reduce");
    EXPECT_EQ(line["backend"], "shm");
    EXPECT_EQ(line["ranks"], 2);
    EXPECT_EQ(line["symmetric"], true);
    EXPECT_EQ(line["verified"], true);
    EXPECT_GT(line["seconds"], 0);
    EXPECT_GT(line["bytes_per_second"], 0);
  }
  EXPECT_EQ(lines[0]["bytes"], 64);
  EXPECT_EQ(lines[2]["bytes"], 1 << 20);
}

TEST_F(BenchTest, EveryBackendIsMeasuredAndVerified) {
  for (const char* backend : {"shm", "thread", "tcp", "auto"}) {
    const auto lines = measure({"--ranks", "3", "--backend", backend, "--sizes", "63,70000"});
    ASSERT_EQ(lines.size(), 2u) << backend;
    for (const auto& line : lines) EXPECT_EQ(line["verified"], true) << backend;
  }
}

TEST_F(BenchTest, EveryOperationIsMeasuredOverSockets) {
  for (const char* op : {"reduce_scatter", "all_gather", "broadcast", "reduce", "gather", "scatter",
                         "all_to_all", "ordered_sum", "barrier", "send"}) {
    const auto lines = measure({"--backend", "tcp", "--op", op, "--sizes", "4K"});
    ASSERT_EQ(lines.size(), 1u) << op;
    EXPECT_EQ(lines[0]["verified"], true) << op;
  }
}

TEST_F(BenchTest, TheTableShowsTheShareOfTheBound) {
  Command run(bench({"--sizes", "4K", "--seconds", "0.001"}));
  EXPECT_EQ(run.wait_exit(soon()), 0);
  EXPECT_THAT(run.out(), HasSubstr("share of bound"));
  EXPECT_THAT(run.out(), HasSubstr(" of unsynchronized loads and stores "));
  EXPECT_THAT(run.out(), Not(HasSubstr("[0]")));
}

TEST_F(BenchTest, TriremeStartsTheProgramBesideIt) {
  Command help({.command = {program(), "bench", "comm", "--help"}});
  EXPECT_EQ(help.wait_exit(soon()), 0);
  EXPECT_THAT(help.out(), HasSubstr("Usage: trireme bench comm [OPTIONS]"));
  Command all({.command = {program(), "bench", "--help"}});
  EXPECT_EQ(all.wait_exit(soon()), 0);
  for (const char* name : {"checkpoint", "codec", "comm", "gpu", "recovery", "train"}) {
    EXPECT_THAT(all.out(), HasSubstr(std::string("\n  bench ") + name + " "));
  }
  Command unknown({.command = {program(), "bench", "nothing"}});
  EXPECT_EQ(unknown.wait_exit(soon()), 2);
  EXPECT_THAT(unknown.error(), HasSubstr("no command 'bench nothing'; there is bench checkpoint"));
}

TEST_F(BenchTest, WithoutTheProgramTheErrorSaysHowToGetIt) {
  const auto copy = folder_.path() / "trireme";
  std::filesystem::copy_file(program(), copy);
  Command run({.command = {copy, "bench", "comm", "--help"}});
  EXPECT_EQ(run.wait_exit(soon()), 2);
  EXPECT_THAT(run.error(), HasSubstr("trireme-bench is not beside " + copy.string()));
  EXPECT_THAT(run.error(), HasSubstr("TRIREME_TESTS=ON"));
}

TEST_F(BenchTest, TheSoakTestIsStartedInTheSameWay) {
  Command help({.command = {program(), "soak", "--help"}});
  EXPECT_EQ(help.wait_exit(soon()), 0);
  EXPECT_THAT(help.out(), HasSubstr("Usage: trireme soak [OPTIONS]"));
  EXPECT_THAT(help.out(), HasSubstr("--faults N"));
}

TEST_F(BenchTest, InvalidOptionsAreRefusedBeforeAnythingRuns) {
  Command unknown(bench({"--op", "allreduce"}));
  EXPECT_EQ(unknown.wait_exit(soon()), 2);
  EXPECT_THAT(unknown.error(), HasSubstr("did you mean all_reduce?"));
  Command nowhere(bench({"--json", "/no/such/folder/file"}));
  EXPECT_EQ(nowhere.wait_exit(soon()), 2);
  EXPECT_THAT(nowhere.error(), HasSubstr("/no/such/folder/file cannot be written"));
}

// Two ranks in network namespaces of their own, with a wire between them.
class WireTest : public BenchTest {
 protected:
  void SetUp() override {
    BenchTest::SetUp();
    if (geteuid() != 0) GTEST_SKIP() << "SKIPPED: only root may make network namespaces";
  }

  static Command::Options over_wire(const Words& options) {
    Words words{build_folder() + "/bench/namespaces.sh", "1000000000",
                build_folder() + "/trireme-bench-comm", "--backend", "auto"};
    words.insert(words.end(), options.begin(), options.end());
    return {.command = words};
  }
};

TEST_F(WireTest, RanksOfTwoNamespacesConnectOverTheWire) {
  Command run(over_wire({"--sizes", "64,1M", "--seconds", "0.01", "--wire", "1e9"}));
  const int code = run.wait_exit(Deadline::after(60s));
  if (code == 77) GTEST_SKIP() << run.error();
  EXPECT_EQ(code, 0) << run.error();
  EXPECT_THAT(run.out(), HasSubstr(R"("bound":{"name":"the wire","bytes_per_second":)"));
  EXPECT_THAT(run.out(), HasSubstr(R"({"name":"raw socket exchange","seconds":)"));
  EXPECT_THAT(run.out(), HasSubstr(R"("wire":1000000000.0)"));
  EXPECT_THAT(run.out(), Not(HasSubstr(R"("verified":false)")));
}

TEST_F(WireTest, KillingItLeavesNothing) {
  Command run(over_wire(kLong));
  try {
    run.wait_for_output(R"("bytes":64,)", soon());
  } catch (const Error&) {
    ASSERT_EQ(run.wait_exit(soon()), 77) << run.error();
    GTEST_SKIP() << run.error();
  }
  kill_one(run.pid(), SIGKILL);
  EXPECT_EQ(run.wait_exit(soon()), 137);
}

TEST_F(BenchTest, CtrlCEndsIt) {
  Command run(bench(kLong));
  run.wait_for_output("64 B", soon());
  kill_one(run.pid(), SIGINT);
  EXPECT_EQ(run.wait_exit(soon()), 130);
}

TEST_F(BenchTest, KillingItLeavesNothing) {
  Command run(bench(kLong));
  run.wait_for_output("64 B", soon());
  kill_one(run.pid(), SIGKILL);
  EXPECT_EQ(run.wait_exit(soon()), 137);
}

}  // namespace
}  // namespace trireme
