// SyncConfig is [sync]: how ranks come to the same weights. Its kinds have no settings of their
// own.

#pragma once

#include "trireme/base/byte_size.h"
#include "trireme/base/config/fields.h"

namespace trireme::parallel {

enum class SyncKind { Auto, AllReduce, Shared, Zero1, Zero2, None };

template <SyncKind>
struct SyncKindConfig {
  static void describe(config::Fields<SyncKindConfig>&) {}
};

struct SyncConfig {
  ByteSize bucket{4 << 20};

  static void describe(config::Fields<SyncConfig>& f) {
    f.add("bucket", &SyncConfig::bucket)
        .at_least(ByteSize{1024})
        .help("gradients that travel together");
  }
};

}  // namespace trireme::parallel
