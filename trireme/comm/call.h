// Call is what a caller of a collective rarely says: everything has a default.

#pragma once

#include <optional>
#include <string_view>

#include "trireme/base/deadline.h"

namespace trireme::comm {

struct Call {
  // Named by errors and the progress board: "bucket 2". At most 39 bytes are kept.
  std::string_view label = {};
  // Among operations that could all move, the largest goes first on this rank.
  int priority = 0;
  // By default the group's own timeout, counted from the call.
  std::optional<Deadline> deadline = {};
  // An opaque stream of the span's device, in whose order the operation runs. Host memory has none
  // (its order is that of calls and waits): null there, anything else is Misuse.
  void* stream = nullptr;
};

}  // namespace trireme::comm
