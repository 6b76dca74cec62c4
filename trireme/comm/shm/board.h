// The progress board shows what each member of a Lanes does, and which members an operation waits
// for. Its rows are in the lanes, so that a surviving member can read the progress of a dead or
// frozen one.
//
// Thread safety: a member writes its own row; others may read it at any time.

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "trireme/base/clock.h"
#include "trireme/comm/operation.h"
#include "trireme/comm/shm/lanes.h"

namespace trireme::comm::shm {

// The current activity of a member, which others may read at any time; each field is atomic by
// itself.
struct BoardRow {
  alignas(64) Word sequence;
  std::atomic<std::uint32_t> kind;
  std::atomic<std::uint32_t> phase;
  Word since;  // steady clock, nanoseconds
  std::array<Word, 5> label;
};

enum class Phase : std::uint32_t { Outside, Entered, Moving, Finished };

// The steady clock, which all processes of a host share.
inline std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(steady_clock().now().time_since_epoch().count());
}

void note(const Lanes& lanes, const Operation& op, Phase phase) noexcept;

// "rank 3 never entered all_reduce #7 (bucket 2) (it finished ...); ranks 0-2": which ranks are
// missing, and which ranks wait for them, including this one.
std::string describe_missing(const Lanes& lanes, const Operation& op);
// The job rank of the first member that never entered.
std::optional<int> first_absent(const Lanes& lanes, const Operation& op);

}  // namespace trireme::comm::shm
