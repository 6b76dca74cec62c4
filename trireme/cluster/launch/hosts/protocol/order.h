// StartOrder is an agent's part of a job: which ranks to run, the command, and where the store is.
// It contains the job's secret, so it is only sent through ssh's standard input.
//
// This file also contains the other payloads of frame.h: small values with one reader and one
// writer each.
//
// Errors:        decoding throws Protocol for malformed bytes.
// Thread safety: values and pure functions.

#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trireme/base/bytes.h"
#include "trireme/base/clock.h"
#include "trireme/cluster/launch/hosts/protocol/job_file.h"
#include "trireme/cluster/launch/rank/rank_exit.h"
#include "trireme/cluster/launch/spec.h"

namespace trireme::cluster::launch::hosts {

struct StartOrder {
  std::string job{};
  std::string secret{};  // 64 hexadecimal digits
  int first = 0;         // the host's first rank
  int ranks = 1;         // number of ranks on the host
  int size = 1;          // number of ranks on all hosts together
  std::vector<std::string> command{};
  std::string program{};
  std::string folder{};  // where the launcher was started
  std::vector<std::string> environment{};
  std::string store{};      // tcp://..., or etcd://...
  std::string feed{};       // where events and metrics are sent: to the launcher, tcp://...
  std::string interface{};  // by which ranks reach each other; empty: that of the route to the
                            // store
  bool bind = true;
  Duration grace{};
  std::uint64_t memory_each = 0;
  int threads_each = 1;
  int host = 0;  // index in the host list
  // How long ranks continue when the launcher is lost; zero: not at all, the job is not elastic.
  Duration orphan_timeout{};
  std::vector<JobFile> job_file{};

  Bytes encode() const;
  static StartOrder decode(ByteView bytes);
};

struct OutputPiece {
  int rank = 0;
  int target = 1;  // standard output or error: 1 or 2
  std::string bytes{};
};
Bytes encode_output(int rank, int target, std::string_view bytes);
OutputPiece decode_output(ByteView payload);

Bytes encode_exit(const RankExit& exit);
RankExit decode_exit(ByteView payload);

struct RankStart {
  int rank = 0;
  pid_t pid = 0;
};
Bytes encode_start(const RankStart& start);
RankStart decode_start(ByteView payload);

Bytes encode_rank_order(const RankOrder& order);
RankOrder decode_rank_order(ByteView payload);

// All live ranks of a host.
Bytes encode_starts(const std::vector<RankStart>& starts);
std::vector<RankStart> decode_starts(ByteView payload);

Bytes encode_indexes(const std::vector<std::uint32_t>& indexes);
std::vector<std::uint32_t> decode_indexes(ByteView payload);

}  // namespace trireme::cluster::launch::hosts
