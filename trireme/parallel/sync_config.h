// SyncConfig is [sync]: how ranks come to the same weights. Kinds that agree less often than every
// step have settings of their own.

#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "trireme/base/config/fields.h"
#include "trireme/base/text/byte_size.h"
#include "trireme/codec/codec_config.h"

namespace trireme::parallel {

enum class SyncKind {
  Auto,
  AllReduce,
  Shared,
  Zero1,
  Zero2,
  Zero3,
  None,
  Local,
  PostLocal,
  Hierarchical,
  Diloco,
  Gossip,
  Delayed,
};

template <SyncKind>
struct SyncKindConfig {
  static void describe(config::Fields<SyncKindConfig>&) {}
};

// What is wrong with a list of "step=kind and its settings", or "".
std::string complaint_of_kinds(const std::vector<std::string>& schedule);

struct SyncConfig {
  std::vector<std::string> schedule{};
  ByteSize bucket{4 << 20};
  std::int64_t check_every = 100;
  bool is_sliced_in_host = false;
  std::chrono::milliseconds timeout{300'000};
  codec::CodecConfig codec{};

  static void describe(config::Fields<SyncConfig>& f) {
    f.add("schedule", &SyncConfig::schedule)
        .check([](const std::vector<std::string>& all) { return complaint_of_kinds(all); })
        .help(
            "other kinds, each from a step on and with its settings, as in [\"500=local "
            "steps=8\"]");
    f.add("bucket", &SyncConfig::bucket)
        .at_least(ByteSize{1024})
        .help("gradients that travel together");
    f.add("slice_in_host", &SyncConfig::is_sliced_in_host)
        .help("zero kinds: slices among the ranks of a host, replicas across hosts");
    f.add("check_every", &SyncConfig::check_every)
        .at_least(0)
        .unit("steps")
        .help("between two comparisons of the ranks' copies of the weights; 0: never");
    f.add("timeout", &SyncConfig::timeout)
        .at_least(std::chrono::milliseconds(1000))
        .help(
            "of a collective, as in torch.distributed.init_process_group; waits for checkpoints "
            "and data are multiples of it");
    f.nest("codec", &SyncConfig::codec);
  }
};

}  // namespace trireme::parallel
