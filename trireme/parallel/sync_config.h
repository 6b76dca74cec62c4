// SyncConfig is the section [sync] of a recipe: how ranks arrive at the same weights. Some
// strategies have further settings of their own (strategy.h).

#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "trireme/base/config/fields.h"
#include "trireme/base/text/byte_size.h"
#include "trireme/codec/codec_config.h"

namespace trireme::parallel {

inline constexpr const char* kSyncSection = "sync";

struct SyncConfig {
  std::vector<std::string> schedule{};
  ByteSize bucket{4 << 20};
  std::int64_t check_every = 100;
  bool is_sliced_in_host = false;
  std::chrono::milliseconds timeout{300'000};
  codec::CodecConfig codec{};

  static void describe(config::Fields<SyncConfig>& f) {
    f.add("schedule", &SyncConfig::schedule)
        .help(
            "strategies that replace this one, each with its first step and settings, as in "
            "[\"500=local steps=8\"]");
    f.add("bucket_size", &SyncConfig::bucket)
        .synonyms({"bucket", "bucket_cap_mb"})
        .at_least(ByteSize{1024})
        .help("size of the buckets in which gradients are reduced, like DDP's bucket_cap_mb");
    f.add("hybrid_shard", &SyncConfig::is_sliced_in_host)
        .synonyms({"slice_in_host"})
        .help(
            "zero1, zero2, zero3: shard within each host and keep replicas across hosts, as "
            "elastic "
            "jobs always do");
    f.add("check_every", &SyncConfig::check_every)
        .at_least(0)
        .unit("steps")
        .help("how often the ranks' copies of the weights are compared; 0: never");
    f.add("timeout", &SyncConfig::timeout)
        .synonyms({"nccl_timeout"})
        .at_least(std::chrono::milliseconds(1000))
        .help(
            "deadline of a collective, as in torch.distributed.init_process_group; waits for "
            "checkpoints "
            "and data are multiples of it");
    f.nest("codec", &SyncConfig::codec);
  }
};

}  // namespace trireme::parallel
