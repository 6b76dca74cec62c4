// Goal:   other hosts receive the settings that they need, and never a secret; the address of the
//         store is one that they can reach.
// Method: handwritten environments and lists.

#include "trireme/cluster/launch/hosts/portable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/error.h"

namespace trireme::cluster::launch::hosts {
namespace {

TEST(PortableJob, SecretsAndLocalPathsAreNotSent) {
  EXPECT_THAT(
      portable({"HOME=/root", "TRIREME_SECRET=1", "TRIREME_SECRET_FILE=x", "TRIREME_STORE=unix:/a",
                "TRIREME_CHAOS=slow", "OMP_NUM_THREADS=2", "AWS_SECRET=x", "TRIREME_TERMINAL=/t",
                "TRIREME_JOB_FOLDER=/f", "NCCL_DEBUG=INFO", "PATH=/bin"}),
      ::testing::ElementsAre("TRIREME_CHAOS=slow", "OMP_NUM_THREADS=2", "NCCL_DEBUG=INFO"));
}

TEST(PortableJob, ProgramsOfTheSystemAreNotCopied) {
  EXPECT_TRUE(is_of_the_system("/usr/bin/python3"));
  EXPECT_TRUE(is_of_the_system("/bin/sh"));
  EXPECT_FALSE(is_of_the_system("/data/train"));
  EXPECT_FALSE(is_of_the_system("/usr/../data/train"));
}

TEST(PortableJob, TheStoreListensOnAReachableAddress) {
  EXPECT_EQ(meeting_address({.list = {{.name = "localhost", .ranks = 4}}}), "127.0.0.1");
  EXPECT_EQ(meeting_address({.list = {{.name = "localhost"}, {.name = "me@127.0.0.2"}}}),
            "127.0.0.1");
  EXPECT_EQ(meeting_address({.list = {{.name = "b"}}, .address = "10.1.2.3"}), "10.1.2.3");
  EXPECT_EQ(meeting_address({.list = {{.name = "b"}}, .interface = "lo"}), "127.0.0.1");
  EXPECT_THROW(meeting_address({.list = {{.name = "b"}}, .interface = "none0"}), Error);
}

}  // namespace
}  // namespace trireme::cluster::launch::hosts
