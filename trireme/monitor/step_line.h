// StepLine is a worker's record of a completed step, for tools that check or time a job from
// outside. It is one line of the file TRIREME_STEP_LOG, to which all workers of a job append.
//
//   begins 81234567890 4 7 0 0 0 0 0x0p+0              worker 4 begins its first micro-batch
//   step   81234599999 4 7 113 24 0 2712 0x1.8p+1      step 113 ended, reported by worker 4
//
// Errors:        parse() returns nothing if the text is not such a line or is truncated.
// Thread safety: pure functions; any thread may call them.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trireme::monitor {

inline constexpr const char* kStepLogVariable = "TRIREME_STEP_LOG";

struct StepLine {
  bool is_begin = false;         // the worker begins its first micro-batch; otherwise a step ended
  std::int64_t nanoseconds = 0;  // CLOCK_MONOTONIC, which all processes of a host share
  int worker = 0;
  std::int64_t epoch = 0;    // membership epoch
  std::int64_t step = 0;     // steps completed, including this one
  std::int64_t samples = 0;  // samples used by this step, on all ranks
  std::int64_t pass = 0;     // pass over the data, from 0
  std::int64_t cursor = 0;   // samples of the pass used so far, including this step
  double loss = 0;

  // Includes the newline.
  std::string to_text() const;
  static std::optional<StepLine> parse(std::string_view line);

  friend bool operator==(const StepLine&, const StepLine&) = default;
};

}  // namespace trireme::monitor
