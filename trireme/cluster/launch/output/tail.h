// Tail remembers the last lines that a rank wrote, for the report on its failure.
//
// Bounds:  `lines_max` lines of at most `line_max` bytes; longer ones lose their end, which is
//          marked by "…".
// Threads: one.

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
    if (line.size() > line_max_) lines_.back() += "…";
  }

  // Oldest first.
  const std::deque<std::string>& lines() const noexcept { return lines_; }

 private:
  std::size_t lines_max_;
  std::size_t line_max_;
  std::deque<std::string> lines_;
};

}  // namespace trireme::cluster::launch::output
