// Gate is notified when a pass reaches a block of a model, so that the block's weights can be made
// available just before it runs and released when the pass has moved on.
//
// A training pass reaches every block twice: forward from the first to the last, backward from the
// last to the first. Backward skips blocks without gradients and may reach a block several times,
// once for each tensor that it created.
//
// Thread safety: called by the thread that runs the pass.

#pragma once

#include <cstddef>

namespace trireme::model {

enum class PassDirection { Forward, Backward };

class Gate {
 public:
  virtual ~Gate() = default;
  // This block runs next. An exception thrown here ends the pass.
  virtual void reach(std::size_t block, PassDirection pass) = 0;
  // If false, reach() is called only for forward passes.
  virtual bool wants_backward() const { return true; }
};

}  // namespace trireme::model
