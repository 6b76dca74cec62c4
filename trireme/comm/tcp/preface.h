// Preface identifies each end of a new connection between ranks. It is part of the authenticated
// handshake and contains the mesh, the worker and its rank. It lets a rank reject a late connection
// from a member of an earlier epoch.
//
// Thread safety: a value type.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trireme::comm::tcp {

struct Preface {
  std::uint64_t epoch = 0;  // of the job's membership
  std::uint64_t mesh = 0;   // index among the meshes of that epoch
  std::int32_t worker = 0;  // the process; worker numbers are never reused
  std::int32_t rank = 0;
  // Index among the streams of the pair, set by the connecting end; 0 on the listening end.
  std::int32_t stream = 0;

  // "worker 4 as rank 1 of epoch 7"
  std::string to_text() const;
  std::string to_bytes() const;
  // Empty for bytes that to_bytes() cannot produce.
  static std::optional<Preface> from_bytes(std::string_view bytes);

  bool operator==(const Preface&) const = default;
};

}  // namespace trireme::comm::tcp
