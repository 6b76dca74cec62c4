// Call contains the optional arguments of a collective. Every field has a default.

#pragma once

#include <optional>
#include <string_view>

#include "trireme/base/deadline.h"

namespace trireme::comm {

struct Call {
  // Shown in errors and on the progress board, for example "bucket 2". At most 39 bytes are kept.
  std::string_view label = {};
  // Among operations that can make progress, this rank runs those with the largest priority first.
  int priority = 0;
  // The default is the group's timeout, counted from the call.
  std::optional<Deadline> deadline = {};
  // The stream of a GPU on which the operation is ordered (a cudaStream_t); null: its default
  // stream. Memory of the CPU is ordered by calls and waits; a stream is then Misuse.
  void* stream = nullptr;
};

}  // namespace trireme::comm
