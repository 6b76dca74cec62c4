// Goal:   ranks find the store where the job's settings put it, and only an elastic job without
//         etcd has a coordinator.
// Method: nothing is started; tests/process/scale_test.cpp kills real coordinators.

#include "trireme/cluster/launch/rendezvous/rendezvous.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "trireme/base/file/temporary_folder.h"

namespace trireme::cluster::launch {
namespace {

class RendezvousTest : public ::testing::Test {
 protected:
  Rendezvous rendezvous() {
    return Rendezvous({.spec = &spec_,
                       .folder = &folder_,
                       .ending = nullptr,
                       .publish = [](std::string_view, const Record&) {}});
  }

  JobSpec spec_;
  TemporaryFolder root_{"rendezvous-test"};
  job::Folder folder_ = job::Folder::create(root_.path(), "demo");
};

TEST_F(RendezvousTest, TheStoreOfAFixedJobIsInItsFolder) {
  Rendezvous fixed = rendezvous();
  fixed.begin("127.0.0.1", false);
  EXPECT_EQ(fixed.store(), "");
  EXPECT_FALSE(fixed.on_reaped(getpid())) << "there is no coordinator";
  EXPECT_FALSE(fixed.has(getpid(), 0));
  fixed.end();
  EXPECT_EQ(fixed.leave(), "");
}

TEST_F(RendezvousTest, EtcdTakesThePlaceOfACoordinator) {
  spec_.store = "etcd://127.0.0.1:1";
  spec_.elastic = Elastic{};
  Rendezvous in_etcd = rendezvous();
  EXPECT_TRUE(in_etcd.store().starts_with("etcd://127.0.0.1:1")) << in_etcd.store();
  EXPECT_TRUE(in_etcd.link().etcd);
  EXPECT_EQ(in_etcd.link().address, "");
  in_etcd.begin("127.0.0.1", true);
  EXPECT_FALSE(in_etcd.on_reaped(getpid())) << "there is no coordinator";
}

}  // namespace
}  // namespace trireme::cluster::launch
