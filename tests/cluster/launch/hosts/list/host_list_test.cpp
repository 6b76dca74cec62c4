// Goal:   host lists are parsed as users write them, and every error in them is reported.
// Method: handwritten texts.

#include "trireme/cluster/launch/hosts/list/host_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/error.h"
#include "trireme/base/file/file.h"
#include "trireme/base/file/temporary_folder.h"

namespace trireme::cluster::launch::hosts {
namespace {

using ::testing::HasSubstr;

std::string mistake_in(const std::string& text) {
  try {
    parse_hosts(text);
  } catch (const Error& error) {
    return error.message();
  }
  return {};
}

TEST(HostList, KeepsItsOrder) {
  EXPECT_EQ(parse_hosts("a:4,user@b.example:2,c,[fd00::7]:3,u@[::1]"),
            (std::vector<HostRanks>{{.name = "a", .ranks = 4},
                                    {.name = "user@b.example", .ranks = 2},
                                    {.name = "c", .ranks = 1},
                                    {.name = "fd00::7", .ranks = 3},
                                    {.name = "u@::1", .ranks = 1}}));
}

TEST(HostList, ReportsMistakes) {
  EXPECT_THAT(mistake_in(""), HasSubstr("the name is empty"));
  EXPECT_THAT(mistake_in("a,,b"), HasSubstr("the name is empty"));
  EXPECT_THAT(mistake_in("a:0"), HasSubstr("1 to 4096"));
  EXPECT_THAT(mistake_in("a:4x"), HasSubstr("'a:4x' is no host"));
  EXPECT_THAT(mistake_in("a:"), HasSubstr("no number after"));
  EXPECT_THAT(mistake_in("[::1]:"), HasSubstr("no number after"));
  EXPECT_THAT(mistake_in("::1:4"), HasSubstr("in brackets"));
  EXPECT_THAT(mistake_in("[::1"), HasSubstr("not closed"));
  EXPECT_THAT(mistake_in("[::1]4"), HasSubstr("follows the ']'"));
  EXPECT_THAT(mistake_in("-oProxyCommand=evil"), HasSubstr("no host has"));
  EXPECT_THAT(mistake_in("a b:1"), HasSubstr("no host has"));
  EXPECT_THAT(mistake_in("a:4096,b"), HasSubstr("4097 ranks together"));
}

TEST(HostList, IsReadFromAHostfile) {
  const TemporaryFolder folder("hostfile");
  const auto path = folder.path() / "hosts";
  write_file_atomically(path, "# ours\n\na:2\n b slots=3 max_slots=8 # the large one\nc\r\n");
  EXPECT_EQ(read_hostfile(path),
            (std::vector<HostRanks>{
                {.name = "a", .ranks = 2}, {.name = "b", .ranks = 3}, {.name = "c", .ranks = 1}}));
  write_file_atomically(path, "a\nb cores=3\n");
  try {
    read_hostfile(path);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.message(), HasSubstr("hosts:2: 'cores=3' is no host"));
  }
  write_file_atomically(path, "# none\n");
  EXPECT_THROW(read_hostfile(path), Error);
  EXPECT_THROW(read_hostfile(folder.path() / "absent"), Error);
}

TEST(HostList, RecognizesThisHost) {
  EXPECT_TRUE(is_this_host("localhost"));
  EXPECT_FALSE(is_this_host("127.0.0.1")) << "a numeric address always connects over the network";
  EXPECT_EQ(bare_name("user@node"), "node");
  EXPECT_EQ(bare_name("node"), "node");
}

}  // namespace
}  // namespace trireme::cluster::launch::hosts
