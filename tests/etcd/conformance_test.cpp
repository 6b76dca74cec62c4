// Goal:   a store in etcd keeps the contract of store.h, as every other does.
// Method: the suite that runs on all of them, on a real etcd.

#include <gtest/gtest.h>

#include "tests/cluster/store_conformance.h"
#include "tests/etcd/etcd_kind.h"

namespace trireme::cluster::conformance {

INSTANTIATE_TYPED_TEST_SUITE_P(InEtcd, StoreConformance, etcd::EtcdKind);

}  // namespace trireme::cluster::conformance
