// RankStream is the launcher's end of one rank's standard output or error: it reads the pipe,
// splits lines, prepends the rank's number to each and passes them to the Writer.
//
// Order:         lines of one stream keep their order, and lines are never interleaved.
// Bounds:        reads at most 64 KiB per call, and only when the caller found room in the Writer.
// Errors:        a pipe that cannot be read counts as closed. Writing to a log file stops after an
//                error; log_error() returns the error.
// Thread safety: one thread.

#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "trireme/base/clock.h"
#include "trireme/base/file/descriptor.h"
#include "trireme/cluster/launch/output/line_splitter.h"
#include "trireme/cluster/launch/output/tail.h"
#include "trireme/cluster/launch/output/writer.h"

namespace trireme::cluster::launch::output {

class RankStream {
 public:
  struct Options {
    int rank = 0;
    Descriptor pipe;     // non-blocking
    int target = 1;      // the launcher's own descriptor: 1 or 2
    std::string prefix;  // "[2] "
    bool is_terminal = false;
    Tail* tail = nullptr;  // of the rank; shared by its two streams
    int log = -1;          // the rank's log file, which receives the unmodified bytes; -1: none
    // Passes on these bytes instead of lines, if another process splits them.
    std::function<std::string(std::string_view bytes)> envelope{};
  };

  explicit RankStream(Options options);

  int rank() const noexcept { return options_.rank; }
  int descriptor() const noexcept { return options_.pipe.get(); }
  bool is_open() const noexcept { return static_cast<bool>(options_.pipe); }

  // Reads once. False if there was nothing to read.
  bool pump(TimePoint now, Writer& writer);
  // Output that does not arrive through the pipe.
  void feed(std::string_view bytes, TimePoint now, Writer& writer);
  // No more output is wanted: writes a last line without a newline and closes the pipe.
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

// The file rank-<rank>.log in `folder`, created or appended to; none if the folder is empty. Throws
// Io.
Descriptor open_log(const std::filesystem::path& folder, int rank, bool is_continued);

// "[2] ", in the rank's colour where `is_coloured`.
std::string prefix_of(int rank, bool is_coloured);

}  // namespace trireme::cluster::launch::output
