// Shared by the tests that kill a process while it saves: the fault and the saved state.

#pragma once

#include <torch/torch.h>

#include <atomic>
#include <csignal>
#include <string>
#include <utility>

#include "trireme/base/fault.h"
#include "trireme/checkpoint/state.h"

namespace trireme::checkpoint {

// Sends SIGKILL to this process at the point, once it is armed.
class KillAt final : public Faults {
 public:
  explicit KillAt(std::string point) : point_(std::move(point)) {}
  void arm() { is_armed_ = true; }
  void reached(FaultPoint point, int) override {
    if (is_armed_ && point.name == point_) std::raise(SIGKILL);
  }

 private:
  std::string point_;
  std::atomic<bool> is_armed_ = false;
};

// Four tensors whose values are the step.
inline State state_at(int step) {
  State state;
  for (int i = 0; i < 4; ++i) {
    state.add("w" + std::to_string(i), torch::full({1009}, static_cast<float>(step)));
  }
  return state;
}

}  // namespace trireme::checkpoint
