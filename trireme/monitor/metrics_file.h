// MetricsFile is a file of measurements, one JSON object a line, each with its "step".
//
// Resume:  a job that goes back to a step opens the file with it, and the lines of later steps are
//          cut off, as is a last line that a killed writer left half written. The file then reads
//          as that of an undisturbed run.
// Failure: opening throws Io or Exhausted. A line that cannot be written is dropped, all of it, and
//          is_broken() says so: measurements are no reason to end a training run.
// Threads: one at a time.

#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>

#include "trireme/base/descriptor.h"
#include "trireme/base/record.h"

namespace trireme::monitor {

class MetricsFile {
 public:
  static constexpr std::int64_t kEveryStep = std::numeric_limits<std::int64_t>::max();

  // Keeps the lines up to and with `last_step`; -1 begins anew, kEveryStep goes on.
  explicit MetricsFile(const std::filesystem::path& path, std::int64_t last_step = -1);

  // {"step": step, …}, written at once.
  void write(std::int64_t step, const Record& record);

  bool is_broken() const noexcept { return is_broken_; }

 private:
  Descriptor descriptor_;
  bool is_broken_ = false;
};

}  // namespace trireme::monitor
