// MetricsFile is a file of measurements with one JSON object per line, each with its "step".
//
// Resume:        a job that resumes from a step opens the file with that step. Lines of later steps
//                are removed, and so is an incomplete last line of a killed writer. The file then
//                equals that of an uninterrupted run.
// Errors:        opening throws Io or Exhausted. A line that cannot be written completely is
//                dropped and is_broken() returns true: a metrics error must not end a training run.
// Thread safety: one thread at a time.

#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>

#include "trireme/base/file/descriptor.h"
#include "trireme/base/record.h"

namespace trireme::monitor {

class MetricsFile {
 public:
  static constexpr std::int64_t kEveryStep = std::numeric_limits<std::int64_t>::max();

  // Keeps the lines of steps up to and including `last_step`; -1 starts an empty file, kEveryStep
  // appends.
  explicit MetricsFile(const std::filesystem::path& path, std::int64_t last_step = -1);

  // Writes {"step": step, …} immediately.
  void write(std::int64_t step, const Record& record);

  bool is_broken() const noexcept { return is_broken_; }

 private:
  Descriptor descriptor_;
  bool is_broken_ = false;
};

}  // namespace trireme::monitor
