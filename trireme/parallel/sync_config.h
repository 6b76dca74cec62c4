// SyncConfig is [sync]: how ranks come to the same weights.

#pragma once

#include "trireme/base/byte_size.h"
#include "trireme/base/config/fields.h"

namespace trireme::parallel {

enum class SyncChoice { Auto, AllReduce, Shared, Zero1, Zero2 };

struct SyncConfig {
  SyncChoice kind = SyncChoice::Auto;
  ByteSize bucket{4 << 20};

  static void describe(config::Fields<SyncConfig>& f) {
    f.add("how", &SyncConfig::kind)
        .names({{"auto", SyncChoice::Auto},
                {"all_reduce", SyncChoice::AllReduce},
                {"shared", SyncChoice::Shared},
                {"zero1", SyncChoice::Zero1},
                {"zero2", SyncChoice::Zero2}})
        .help("who holds what: everything on each rank, one copy a host, or slices");
    f.add("bucket", &SyncConfig::bucket)
        .at_least(ByteSize{1024})
        .help("gradients that travel together");
  }
};

}  // namespace trireme::parallel
