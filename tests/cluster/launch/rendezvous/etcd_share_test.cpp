// Goal:   each job has its own part of an etcd, and an etcd that does not answer is reported in
//         time.
// Method: folders of jobs with the same name, and an address where no server listens.

#include "trireme/cluster/launch/rendezvous/rendezvous.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trireme/base/file/temporary_folder.h"

namespace trireme::cluster::launch {
namespace {

TEST(EtcdShare, IsUniquePerJobFolder) {
  const TemporaryFolder root("share-test"), other_root("share-test");
  const auto folder = job::Folder::create(root.path(), "demo");
  const auto other = job::Folder::create(other_root.path(), "demo");
  const JobSpec spec{.command = {}, .program = {}, .store = "etcd://127.0.0.1:1"};
  const EtcdShare share(spec, folder);
  EXPECT_THAT(share.text(), ::testing::MatchesRegex("etcd://127.0.0.1:1/demo-[0-9a-f]{12}"));
  EXPECT_EQ(share.text(), EtcdShare(spec, folder).text())
      << "every launcher of the job uses the same share";
  EXPECT_NE(share.text(), EtcdShare(spec, other).text());
  EXPECT_THAT(share.leave(), ::testing::HasSubstr("could not be removed"));
  folder.remove();
  other.remove();
}

TEST(EtcdShare, IsEmptyWithoutAnEtcdStore) {
  const EtcdShare none;
  EXPECT_EQ(none.text(), "");
  EXPECT_EQ(none.leave(), "");
  none.clear();
}

}  // namespace
}  // namespace trireme::cluster::launch
