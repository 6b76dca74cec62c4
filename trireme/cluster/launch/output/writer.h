// Writer writes whole lines to this process's standard output and error, on its own thread, so that
// a slow terminal never blocks the launcher.
//
// Order:          as pushed, across both descriptors.
// Bounds:         at most `pending_max` bytes are queued, plus one push. A caller checks has_room()
//                 first and otherwise stops reading from its ranks; this is how a slow reader slows
//                 the ranks down.
// Own descriptor: a Writer that was given a descriptor writes everything to it, whatever descriptor
//                 it is pushed for, and closes it; it never writes to another file that got the
//                 same number.
// Errors:         when a descriptor cannot be written any more (its reader is gone, the disk is
//                 full), error() returns why, and all further output for it is dropped; the other
//                 one is still written. Nothing throws.
// Thread safety:  push, has_room, … from one thread; the writing thread is internal.
// Lifetime:       the destructor drops pending output, and detaches the thread if a reader that
//                 does not read blocks it; to write everything, wait for is_drained() first.

#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "trireme/base/file/descriptor.h"

namespace trireme::cluster::launch::output {

class Writer {
 public:
  explicit Writer(std::size_t pending_max = std::size_t{1} << 20);
  explicit Writer(Descriptor own);
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // `text` is written to `descriptor` in one piece; no other push is interleaved.
  void push(int descriptor, std::string text);

  bool has_room() const;
  bool is_drained() const;
  // errno of the first failure; 0: none.
  int error() const;

  // Readable after one of these three has changed; call clear_event() before calling them.
  int event() const noexcept;
  void clear_event();

 private:
  struct State;
  void run();

  std::shared_ptr<State> state_;
};

}  // namespace trireme::cluster::launch::output
