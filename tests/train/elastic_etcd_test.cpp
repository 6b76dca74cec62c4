// Goal:   an elastic job whose state lives in etcd gets over the death of a worker, and of etcd
//         itself, with the bits of an undisturbed job; no coordinator is started, and
//         nothing is left in etcd.
// Method: the real programs and a real etcd.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/train/elastic_job.h"
#include "trireme/cluster/store/etcd/client.h"
#include "trireme/cluster/store/etcd/message.h"
#include "trireme/testing/etcd_server.h"

namespace trireme::train {
namespace {

namespace etcd = cluster::etcd;
using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

class ElasticEtcd : public ElasticJob {
 protected:
  void SetUp() override {
    if (!testing::EtcdServer::program()) GTEST_SKIP() << testing::EtcdServer::kMissing;
    server_.emplace();
  }
  void TearDown() override {
    server_.reset();
    ElasticJob::TearDown();
  }

  testing::CommandProcess::Options job_in_etcd(const std::string& chaos, Words more) const {
    more.insert(more.end(), {"--store", server_->url()});
    return job(chaos, more);
  }

  void expect_nothing_in_etcd() const {
    etcd::EtcdClient client({.members = server_->place("any").members});
    const etcd::Keys keys = etcd::Keys::with_prefix("/trireme/");
    const Deadline deadline = Deadline::after(10s);
    const std::string answer = client.call(etcd::kRangePath, etcd::range_request(keys), deadline);
    for (const etcd::Item& item : etcd::read_range(answer).items) {
      ADD_FAILURE() << "left in etcd: " << item.key;
    }
  }

  std::optional<testing::EtcdServer> server_;
};

TEST_F(ElasticEtcd, ContinuesAfterAWorkerDies) {
  testing::CommandProcess process(job_in_etcd("kill rank=2 step=12 at=update", {}));
  EXPECT_EQ(process.wait_exit(Deadline::after(90s)), 0) << process.out() << process.error();
  EXPECT_THAT(process.error(), HasSubstr("worker 2 was lost: killed by signal 9"));
  EXPECT_THAT(events(), HasSubstr("\"event\":\"workers lost\""));
  EXPECT_THAT(events(), Not(HasSubstr("coordinator")));
  expect_same_bits_as(undisturbed());
  expect_nothing_in_etcd();
}

// Worker 2 dies once etcd is back: the others agree on the next epoch there.
TEST_F(ElasticEtcd, TrainsOnWhileEtcdIsAway) {
  testing::CommandProcess process(job_in_etcd("slow rank=0 factor=12; kill rank=2 step=110",
                                              {"train.steps=150", "checkpoint.every=50"}));
  process.wait_for_output("evaluation at step 9:", Deadline::after(60s));
  server_->kill();
  process.wait_for_output("evaluation at step 54:", Deadline::after(60s));
  server_->start();
  EXPECT_EQ(process.wait_exit(Deadline::after(90s)), 0) << process.out() << process.error();
  EXPECT_THAT(events(), HasSubstr("\"event\":\"workers lost\""));
  expect_same_bits_as(undisturbed(150));
  expect_nothing_in_etcd();
}

}  // namespace
}  // namespace trireme::train
