// Gate is told when a pass reaches a block of a model, so that what the block needs can be brought
// just before it runs, and be taken away when the pass has moved on.
//
// A training pass reaches every block twice: forward from the first to the last, backward from the
// last to the first. Backward skips blocks that no gradient goes through, and may reach one several
// times, once for each tensor that it gave.
//
// Threads: the one that runs the pass.

#pragma once

#include <cstddef>

namespace trireme::model {

enum class Pass { Forward, Backward };

class Gate {
 public:
  virtual ~Gate() = default;
  // This block runs next. What is thrown here ends the pass.
  virtual void reach(std::size_t block, Pass pass) = 0;
  // Otherwise it is told of forward passes alone.
  virtual bool wants_backward() const { return true; }
};

}  // namespace trireme::model
