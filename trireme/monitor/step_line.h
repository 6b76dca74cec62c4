// StepLine is what a worker writes down of a step that counts, for whoever checks or times a job
// from outside: a line of TRIREME_STEP_LOG, to which all workers of a job append.
//
//   begins 81234567890 4 7 0 0 0 0 0x0p+0              worker 4 begins its first slot
//   step   81234599999 4 7 113 24 0 2712 0x1.8p+1      step 113 ended, as worker 4 sees it
//
// Failure: parse() knows nothing where the text is no such line, or is cut off.
// Threads: pure.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trireme::monitor {

inline constexpr const char* kStepLogVariable = "TRIREME_STEP_LOG";

struct StepLine {
  bool is_begin = false;         // of the worker's first slot; otherwise a step ended
  std::int64_t nanoseconds = 0;  // CLOCK_MONOTONIC, which all processes of a host share
  int worker = 0;
  std::int64_t epoch = 0;    // of the members
  std::int64_t step = 0;     // steps made, with this one
  std::int64_t samples = 0;  // used by this step, on all ranks
  std::int64_t pass = 0;     // over the data, from 0
  std::int64_t cursor = 0;   // samples of the pass used, with these
  double loss = 0;

  // With its newline.
  std::string to_text() const;
  static std::optional<StepLine> parse(std::string_view line);

  friend bool operator==(const StepLine&, const StepLine&) = default;
};

}  // namespace trireme::monitor
