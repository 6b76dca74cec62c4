// Goal:   every Store satisfies the contract of store.h.
// Method: one typed suite; tests/etcd/ runs the same on an etcd.

#include <gtest/gtest.h>

#include "tests/cluster/store_conformance.h"
#include "tests/cluster/store_kinds.h"
#include "trireme/cluster/store/local_store.h"
#include "trireme/cluster/store/message_store.h"
#include "trireme/cluster/store/reconnecting_store.h"
#include "trireme/cluster/store/store.h"

namespace trireme::cluster::conformance {

INSTANTIATE_TYPED_TEST_SUITE_P(Ours, StoreConformance, StoreKinds);

}  // namespace trireme::cluster::conformance
