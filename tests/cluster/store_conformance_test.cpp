// Goal:   every Store satisfies the contract of store.h.
// Method: one typed suite; tests/etcd/ runs the same on an etcd.

#include <gtest/gtest.h>

#include "tests/cluster/store_conformance.h"
#include "tests/cluster/store_kinds.h"
#include "trireme/cluster/folder_store.h"
#include "trireme/cluster/lasting_store.h"
#include "trireme/cluster/local_store.h"
#include "trireme/cluster/message_store.h"
#include "trireme/cluster/store.h"

namespace trireme::cluster::conformance {

INSTANTIATE_TYPED_TEST_SUITE_P(Ours, StoreConformance, StoreKinds);

}  // namespace trireme::cluster::conformance
