// LiveView shows Progress while a job runs: on a terminal a few lines that are redrawn in place, at
// most ten times a second; elsewhere plain lines at a civil rate, the first steps and then one
// every few seconds.
//
// Colours: on a terminal, unless NO_COLOR is set.
// Failure: what cannot be written is not; a closed terminal is no reason to end a training run.
// Threads: one at a time.

#pragma once

#include <string>
#include <string_view>

#include "trireme/base/clock.h"
#include "trireme/monitor/progress.h"

namespace trireme::monitor {

class LiveView {
 public:
  struct Options {
    int descriptor = 1;
    bool is_terminal = false;
    bool has_color = false;
    Duration redraw_every = std::chrono::milliseconds(100);
    Duration line_every = std::chrono::seconds(5);
    int first_steps = 3;  // each has a plain line
    const Clock* clock = &steady_clock();
  };
  // As the descriptor is: a terminal or not.
  static Options options_for(int descriptor);

  explicit LiveView(Options options);
  ~LiveView();
  LiveView(const LiveView&) = delete;
  LiveView& operator=(const LiveView&) = delete;

  // Cheap when it is too early to show anything.
  void update(const Progress& progress);
  // A line that stays, above the view: an evaluation, a warning.
  void note(std::string_view line);
  // Shows the last update whatever the time, and leaves it there.
  void finish();

 private:
  void draw();
  void write(std::string_view text) const;
  std::string erased() const;
  int width() const;

  Options options_;
  Progress progress_;
  bool has_progress_ = false;
  bool is_shown_ = true;   // the last update was
  std::size_t lines_ = 0;  // on the terminal now
  int updates_ = 0;
  TimePoint next_{};
};

}  // namespace trireme::monitor
