// Several small spans reduced as one: packed behind each other, reduced once, unpacked.

#pragma once

#include <cstring>
#include <vector>

#include "trireme/comm/backend.h"
#include "trireme/comm/span.h"

namespace trireme::comm {

// REQUIRES: op.request describes an all_reduce of all spans' elements together.
inline Task packed_reduce(Backend& backend, const Operation& op, std::vector<Span> spans) {
  std::vector<std::byte> packed(op.request.count * op.element_size());
  std::size_t place = 0;
  for (const Span& span : spans) {
    if (span.size() != 0) std::memcpy(packed.data() + place, span.data, span.size());
    place += span.size();
  }
  Operation inner = op;
  inner.input = packed.data();
  inner.output = packed.data();
  co_await backend.run(inner);
  place = 0;
  for (const Span& span : spans) {
    if (span.size() != 0) std::memcpy(span.data, packed.data() + place, span.size());
    place += span.size();
  }
}

}  // namespace trireme::comm
