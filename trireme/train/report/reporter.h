// Reporter is what people see of a job: a view on the terminal or plain lines, metrics.jsonl,
// events.jsonl and TensorBoard's curves in the job's folder.
//
// Of several ranks the first reports; the others have a Reporter without a folder, which is silent.
//
// Resume:  metrics.jsonl is cut back to the step, events.jsonl never: it tells of every attempt.
// Failure: opening the folder's files throws; later nothing here ends a training.
// Threads: one.

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
enum class Ending;

class Reporter {
 public:
  struct Options {
    std::filesystem::path folder{};  // empty: says and writes nothing
    std::string terminal{};          // where a live view is drawn; empty: plain lines
    bool is_silent = false;          // until it takes over
    PeakFlops::Measure measure_peak = measure_peak_flops;
  };
  explicit Reporter(Options options);
  ~Reporter();

  void begin(const Job& job, const Progress& progress);
  // The rank that reported is gone, and this one goes on. Nothing where it reports already.
  void take_over(const Job& job, const Progress& progress);
  // Of one rank, as far as this job has seen; 0: unknown.
  double peak_flops() const noexcept { return peak_.value(); }
  void raise_peak_flops(double peak) noexcept { peak_.raise(peak); }
  // The ranks of an elastic job change. Speeds from here on are those of so many.
  void set_ranks(int ranks);
  void step(const Progress& progress, const Outcome& outcome);
  void evaluated(const Progress& progress, const Scores& scores);
  // When it is on disk.
  void saved(std::int64_t step, const checkpoint::Saver::Figures& figures);
  // At the last step that was reported, unless the record has a "step" of its own.
  void event(const Record& what);
  // On the screen, and as an event.
  void warn(const std::string& text, const Record& what);
  void end(const Progress& progress, Ending ending);

 private:
  void open();
  void update_mfu(const Outcome& outcome);
  void write_metrics(const Progress& progress, const Outcome& outcome);

  struct State;
  Options options_;
  PeakFlops peak_;
  std::unique_ptr<State> state_;
};

}  // namespace trireme::train
