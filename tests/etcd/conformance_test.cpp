// Goal:   a store in etcd satisfies the contract of store.h, like every other store.
// Method: the conformance suite of all stores, on a real etcd.

#include <gtest/gtest.h>

#include "tests/cluster/store_conformance.h"
#include "tests/etcd/etcd_kind.h"

namespace trireme::cluster::conformance {

INSTANTIATE_TYPED_TEST_SUITE_P(InEtcd, StoreConformance, etcd::EtcdKind);

}  // namespace trireme::cluster::conformance
