// Interruption ends a forward pass whose result is no longer needed, for example because a rank
// that shares its batch has failed. Models check it between two blocks.
//
// Thread safety: called by the thread that runs the pass.

#pragma once

namespace trireme::model {

class Interruption {
 public:
  virtual ~Interruption() = default;
  // Throws the reason why the pass should end.
  virtual void throw_if_pointless() const = 0;
};

}  // namespace trireme::model
