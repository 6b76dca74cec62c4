// Goal:   a job on hosts that have neither its recipe nor the program ends with the same bits as on
//         this host.
// Method: the real programs and a real sshd that acts as two hosts, whose sessions see empty
//         folders instead of those of the recipe and the program.

#include <unistd.h>

#include "tests/train/process_fixture.h"
#include "trireme/testing/ssh_server.h"

namespace trireme::train {
namespace {

using testing::SshServer;

TEST_F(TrainProcess, ReachesHostsThatHaveNothing) {
  if (!SshServer::program()) GTEST_SKIP() << SshServer::kMissing;
  if (geteuid() != 0) GTEST_SKIP() << "NOT TESTED: only root can hide a folder";
  const TemporaryFolder cache("hosts-train"), output("hosts-train");
  SshServer server({.environment = {{"XDG_RUNTIME_DIR", state_.runtime().string()},
                                    {"TRIREME_CACHE", cache.path().string()}},
                    .hidden = {build_folder(), folder_.path().string()}});
  const std::string far = (output.path() / "far").string();
  const Ran ran = run({"train", recipe(), "--output", far, "--ssh", server.command(), "--hosts",
                       "127.0.0.1:1,127.0.0.2:2"});
  ASSERT_EQ(ran.code, 0) << ran.out << ran.error;
  ASSERT_EQ(train("near").code, 0);
  expect_same_end(far, "near");
}

}  // namespace
}  // namespace trireme::train
