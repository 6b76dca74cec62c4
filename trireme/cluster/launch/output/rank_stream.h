// RankStream is our end of one rank's standard output or error: it reads the pipe, cuts lines,
// puts the rank's number before each and hands them to the Writer.
//
// Order:    lines of one stream keep their order, and a line is never mixed with another's.
// Bounds:   reads at most 64 KiB a call, and only when the caller found room in the Writer.
// Failure:  a pipe that cannot be read counts as closed. A log file that cannot be written is
//           given up; log_error() says why.
// Threads:  one.

#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "trireme/base/clock.h"
#include "trireme/base/descriptor.h"
#include "trireme/cluster/launch/output/line_splitter.h"
#include "trireme/cluster/launch/output/tail.h"
#include "trireme/cluster/launch/output/writer.h"

namespace trireme::cluster::launch::output {

class RankStream {
 public:
  struct Options {
    int rank = 0;
    Descriptor pipe;     // non-blocking
    int target = 1;      // ours: 1 or 2
    std::string prefix;  // "[2] "
    bool is_terminal = false;
    Tail* tail = nullptr;  // of the rank; both its streams share it
    int log = -1;          // the rank's log file, which gets the bytes as they are; -1: none
    // What to hand on instead of lines, for whoever cuts them elsewhere.
    std::function<std::string(std::string_view bytes)> envelope{};
  };

  explicit RankStream(Options options);

  int rank() const noexcept { return options_.rank; }
  int descriptor() const noexcept { return options_.pipe.get(); }
  bool is_open() const noexcept { return static_cast<bool>(options_.pipe); }

  // Reads once. False when nothing was there to read.
  bool pump(TimePoint now, Writer& writer);
  // Takes what came by another way than the pipe, and what stands for the pipe's end there.
  void feed(std::string_view bytes, TimePoint now, Writer& writer);
  void end(Writer& writer);
  // No more is wanted: writes out a last line without a newline and closes the pipe.
  void finish(Writer& writer);

  // errno of the log file's failure; 0: none.
  int log_error() const noexcept { return log_error_; }

 private:
  void write_log(std::string_view bytes);
  LineSplitter::Sink into(std::string& text);

  Options options_;
  LineSplitter splitter_;
  int log_error_ = 0;
};

// The file rank-<rank>.log in `folder`, made or written on; none where the folder has no name.
// Throws Io.
Descriptor open_log(const std::filesystem::path& folder, int rank, bool is_continued);

// "[2] ", in the rank's colour where `is_coloured`.
std::string prefix_of(int rank, bool is_coloured);

// Whether to colour what goes to `descriptor`: a terminal that can, and no NO_COLOR set.
bool wants_colour(int descriptor);

}  // namespace trireme::cluster::launch::output
