// LineSplitter splits the output of a rank, which arrives in arbitrary pieces, into lines.
//
// Bounds:        a line longer than `line_max` is passed on in pieces of that size, so that memory
//                is bounded for any output. Any byte may occur; none is lost or changed.
// Redraws:       a progress bar ends its updates with a carriage return. With redraw_period set, as
//                for a terminal, each such update counts as a separate line, at most one per
//                period, and the last before a newline always; the others are dropped. Without it
//                (files and pipes) a carriage return is an ordinary byte.
// Thread safety: one thread.

#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "trireme/base/clock.h"

namespace trireme::cluster::launch::output {

class LineSplitter {
 public:
  struct Options {
    std::size_t line_max = std::size_t{64} << 10;
    Duration redraw_period{0};
  };
  // Receives each line without its newline.
  using Sink = std::function<void(std::string_view)>;

  explicit LineSplitter(Options options) : options_(options) {}

  void feed(std::string_view bytes, TimePoint now, const Sink& sink);
  // The rank closed its end: passes on the bytes after the last newline.
  void finish(const Sink& sink);

  // The bytes of a line that has not ended yet.
  std::string_view partial() const noexcept { return line_; }

 private:
  void feed_plain(std::string_view bytes, const Sink& sink);
  void end_line(const Sink& sink);
  void redraw(TimePoint now, const Sink& sink);

  Options options_;
  std::string line_;
  bool has_return_ = false;   // the last byte was a carriage return, not handled yet
  bool has_redrawn_ = false;  // the line so far was passed on as a redraw
  std::string skipped_;       // the last redraw that was dropped
  TimePoint redrawn_ = TimePoint::min();
};

}  // namespace trireme::cluster::launch::output
