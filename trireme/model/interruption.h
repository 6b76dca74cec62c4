// Interruption ends a forward pass that nobody needs any more: one of those who share its batch is
// gone, say. Models ask between two blocks.
//
// Threads: the one that runs the pass.

#pragma once

namespace trireme::model {

class Interruption {
 public:
  virtual ~Interruption() = default;
  // Throws why the pass is not worth its time.
  virtual void throw_if_pointless() const = 0;
};

}  // namespace trireme::model
