// Reporter shows a job to its users: a live view or plain lines on the terminal, and metrics.jsonl,
// events.jsonl and TensorBoard curves in the job's folder.
//
// Rank 0 reports. The other ranks have a silent Reporter for the same folder (is_silent): in an
// elastic job any of them may take over.
//
// Resuming:      metrics.jsonl is truncated to the step of the checkpoint; events.jsonl is never
//                truncated, because it records every run.
// Errors:        opening the files throws. Later errors do not end the training.
// Thread safety: one thread.

#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "trireme/base/record.h"
#include "trireme/checkpoint/saver.h"
#include "trireme/train/evaluate/scores.h"
#include "trireme/train/report/peak_flops.h"
#include "trireme/train/report/progress.h"
#include "trireme/train/step.h"

namespace trireme::train {

struct Job;
enum class TrainingOutcome;

class Reporter {
 public:
  struct Options {
    std::filesystem::path folder{};  // empty: shows and writes nothing
    std::string terminal{};          // the device for the live view; empty: plain lines
    bool is_silent = false;          // shows nothing until take_over()
    PeakFlops::Measure measure_peak = [](Precision precision) {
      return measure_peak_flops(precision);
    };
  };
  explicit Reporter(Options options);
  ~Reporter();

  void begin(const Job& job, const Progress& progress);
  // Continues the reports of a rank that failed or left. Does nothing if this rank already reports.
  void take_over(const Job& job, const Progress& progress);
  // The highest measured peak of one rank; 0: unknown.
  double peak_flops() const noexcept { return peak_.value(); }
  void raise_peak_flops(double peak) noexcept { peak_.raise(peak); }
  // Called when the number of ranks of an elastic job changes, which reported speeds depend on.
  void set_ranks(int ranks);
  void step(const Progress& progress, const Outcome& outcome);
  void evaluated(const Progress& progress, const Scores& scores);
  // Called when a checkpoint is on disk.
  void saved(std::int64_t step, const checkpoint::Saver::Figures& figures);
  // Writes an event. Its step is the last reported one, unless the record has a "step".
  void event(const Record& what);
  // Shows a text on the screen, and writes an event.
  void warn(const std::string& text, const Record& what);
  void end(const Progress& progress, TrainingOutcome ending);

 private:
  void open();
  void update_mfu(const Outcome& outcome);
  void warn_of_skipped(std::int64_t more);
  void write_metrics(const Progress& progress, const Outcome& outcome);

  struct State;
  Options options_;
  PeakFlops peak_;
  std::unique_ptr<State> state_;
};

}  // namespace trireme::train
