// RoundAction is an action of local-update strategies that completes on all ranks or on none, and
// RoundTurn what happens to the fragments of the model in it.
//
// Every action has a mark, a number that a rank writes to shared memory before it changes the
// parameters: if the rank dies, the other ranks of its host find out which action it had begun.
//
// Thread safety: values and pure functions.

#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace trireme::parallel::local {

// If a death interrupts the end of a round (Round), the live ranks repeat it when they regroup. The
// later occasions are not repeated there: at the end of the job every rank calls join() again.
enum class Occasion : std::int64_t { Prepare, Round, Arrival, AllAtOnce, Join };

struct RoundAction {
  std::int64_t step = -1;  // -1: no action
  Occasion occasion = Occasion::Round;

  bool is_join() const noexcept { return occasion == Occasion::Join; }
  std::int64_t mark() const noexcept {
    return ((step + 1) << 16) + (static_cast<std::int64_t>(occasion) << 8);
  }
  bool operator==(const RoundAction&) const = default;
};

struct RoundTurn {
  explicit RoundTurn(std::size_t fragments) : lands(fragments), departs(fragments) {}

  std::vector<bool> lands;    // by fragment: its mean is written to the parameters
  std::vector<bool> departs;  // by fragment: its values are sent
  bool has_buffers = false;   // buffers are averaged, too

  bool is_any_landing() const { return has(lands, true); }
  bool is_all_landing() const { return !has(lands, false); }
  bool is_any() const { return has_buffers || has(lands, true) || has(departs, true); }

 private:
  static bool has(const std::vector<bool>& all, bool which) {
    return std::find(all.begin(), all.end(), which) != all.end();
  }
};

}  // namespace trireme::parallel::local
