// Tail keeps the last lines that a rank wrote, and the failure that it reported, for the final
// report.
//
// Bounds:        `lines_max` lines of at most `line_max` bytes; longer lines are truncated and end
//                with "...".
// Thread safety: one thread.

#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>

namespace trireme::cluster::launch::output {

class Tail {
 public:
  Tail() : Tail(20) {}
  explicit Tail(std::size_t lines_max, std::size_t line_max = 1000)
      : lines_max_(lines_max), line_max_(line_max) {}

  void add(std::string_view line) {
    if (lines_max_ == 0) return;
    if (lines_.size() == lines_max_) lines_.pop_front();
    lines_.emplace_back(line.substr(0, line_max_));
    if (line.size() > line_max_) lines_.back() += "...";
  }

  // Oldest first.
  const std::deque<std::string>& lines() const noexcept { return lines_; }

  // Adds a line of the reported failure; see kFailureMark.
  void add_failure(std::string_view line) {
    if (failure_.size() + line.size() > line_max_ * lines_max_) return;
    failure_ += (failure_.empty() ? "" : "\n") + std::string(line);
  }
  const std::string& failure() const noexcept { return failure_; }

 private:
  std::size_t lines_max_;
  std::size_t line_max_;
  std::deque<std::string> lines_;
  std::string failure_;
};

}  // namespace trireme::cluster::launch::output
