// Reduces several small spans in one operation: packs them into one buffer, reduces it once and
// unpacks the result.

#pragma once

#include <vector>

#include "trireme/comm/algorithm/strides.h"
#include "trireme/comm/backend.h"
#include "trireme/comm/span.h"

namespace trireme::comm {

// REQUIRES: op.request describes an all_reduce of all spans' elements together.
inline Task packed_reduce(Backend& backend, const Operation& op, std::vector<Span> spans) {
  std::vector<std::byte> packed(op.request.count * op.element_size());
  Operation inner = op;
  inner.input = packed.data();
  inner.output = packed.data();
  // The reduction is created before the first wait, because a backend numbers operations in the
  // order of the calls.
  Task reduction = backend.run(inner);
  std::size_t place = 0;
  for (const Span& span : spans) {
    co_await copy_in_strides(packed.data() + place, static_cast<std::byte*>(span.data),
                             span.size());
    place += span.size();
  }
  co_await std::move(reduction);
  place = 0;
  for (const Span& span : spans) {
    co_await copy_in_strides(static_cast<std::byte*>(span.data), packed.data() + place,
                             span.size());
    place += span.size();
  }
}

}  // namespace trireme::comm
