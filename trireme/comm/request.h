// OpRequest is what one rank requests of a group in one operation, in the form in which ranks
// compare it: every member must make the same request, otherwise all members fail with Mismatch.
//
// It is trivially copyable, because it is copied as it is into shared pages and wire headers.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "trireme/comm/dtype.h"

namespace trireme::comm {

enum class OpKind : std::uint8_t {
  None,
  Barrier,
  AllReduce,
  ReduceScatter,
  AllGather,
  Broadcast,
  Reduce,
  Gather,
  Scatter,
  AllToAll,
  OrderedSum,
  Send,
  Receive,
};

std::string_view name_of(OpKind kind) noexcept;

struct OpRequest {
  OpKind kind = OpKind::None;
  DType type = DType::UInt8;
  ReduceOp reduce = ReduceOp::Sum;
  OpKind part_of = OpKind::None;  // the operation that the user called, if this is a step of it
  std::int32_t root = -1;         // -1 if there is none
  std::uint64_t count = 0;        // elements over all members, or per member if all are equal
  std::uint64_t layout = 0;       // hash of uneven counts or of slot owners; 0 if even

  friend bool operator==(const OpRequest&, const OpRequest&) = default;

  // "all_reduce of 1024 float32 (sum)"
  std::string to_text() const;
};

static_assert(sizeof(OpRequest) == 24);

// A 64-bit hash of counts or owners, never 0.
std::uint64_t layout_hash(std::span<const std::size_t> values) noexcept;

}  // namespace trireme::comm
