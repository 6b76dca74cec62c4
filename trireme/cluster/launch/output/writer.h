// Writer puts whole lines on our standard output and error, on a thread of its own, so that a
// slow terminal never keeps the launcher from its duties.
//
// Order:    as pushed, over both descriptors.
// Bounds:   at most `pending_max` bytes wait, plus one push; whoever pushes asks has_room() first
//           and otherwise stops reading its ranks, which is how a slow reader slows them.
// Failure:  when a descriptor takes no more (its reader is gone, the disk is full) error() says
//           why and everything further for it is dropped; the other one is written on. Nothing
//           throws.
// Threads:  push, has_room, … from one thread; the writing thread is inside.
// Own:      one that was given a descriptor writes everything to that, whatever it is pushed for,
// and
//           closes it; nothing of it ever reaches another file that got the same number.
// Lifetime: the destructor drops what is pending, and leaves the thread to itself where a reader
//           that reads nothing holds it; wait for is_drained() first to have it all written.

#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <thread>

#include "trireme/base/descriptor.h"

namespace trireme::cluster::launch::output {

class Writer {
 public:
  explicit Writer(std::size_t pending_max = std::size_t{1} << 20);
  explicit Writer(Descriptor own);
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // `text` is written to `descriptor` whole; no other push comes between.
  void push(int descriptor, std::string text);

  bool has_room() const;
  bool is_drained() const;
  // errno of the first failure; 0: none.
  int error() const;

  // Readable after any of the three has changed; call clear_event() before asking them.
  int event() const noexcept;
  void clear_event();

 private:
  struct State;
  void run();

  std::shared_ptr<State> state_;
};

}  // namespace trireme::cluster::launch::output
