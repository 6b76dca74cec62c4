// LiveView shows ProgressReport while a job runs. On a terminal it redraws a few lines in place, at
// most ten times per second. Elsewhere it prints plain lines: one for each of the first steps, then
// one every few seconds or every N steps.
//
// Colours:       see trireme/base/terminal.h.
// Errors:        write errors are ignored; a closed terminal must not end a training run.
// Thread safety: one thread at a time.

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
    int first_steps = 3;  // each of these prints a plain line
    const Clock* clock = &steady_clock();
  };
  // Options that match the descriptor: a terminal or not.
  static Options options_for(int descriptor);

  explicit LiveView(Options options);
  ~LiveView();
  LiveView(const LiveView&) = delete;
  LiveView& operator=(const LiveView&) = delete;

  // Returns quickly if it is too early to draw again.
  void update(const ProgressReport& progress);
  // Prints a plain line every `steps` steps; 0 means by time.
  void set_line_steps(std::int64_t steps) noexcept { line_steps_ = steps; }
  // Prints a permanent line above the view, for example an evaluation or a warning.
  void note(std::string_view line);
  // Draws the last update now and leaves it on the terminal.
  void finish();

 private:
  void draw();
  void write(std::string_view text) const;
  std::string erased() const;

  Options options_;
  ProgressReport progress_;
  bool has_progress_ = false;
  bool is_shown_ = true;   // whether the last update was drawn
  std::size_t lines_ = 0;  // number of lines currently on the terminal
  int updates_ = 0;
  std::int64_t line_steps_ = 0;
  TimePoint next_{};
};

}  // namespace trireme::monitor
