// ProgressReport is the status of a running job, and its representation as text: a view of a few
// lines for a terminal, or one plain line.
//
// Thread safety: a value type; the functions are pure.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trireme::monitor {

struct ProgressReport {
  std::int64_t step = 0;
  std::int64_t steps = 0;  // total number of steps; 0 if unknown
  double epoch = 0;        // 1.5: half of the second epoch is done
  double loss = 0;
  std::optional<double> mae{};  // mean absolute error, for regression
  std::optional<double> r2{};
  double learning_rate = 0;
  std::optional<double> rate{};  // units per second
  std::string unit = "samples";
  std::optional<double> mfu{};        // model FLOPs utilization: fraction of the machine's peak
  std::optional<double> data_wait{};  // fraction of the time spent waiting for data
  std::optional<double> seconds_left{};
  std::string evaluation{};  // the last evaluation, as "step 500: accuracy 91.2 %"
  std::optional<std::int64_t> checkpoint_step{};
};

struct ViewStyle {
  int width = 80;  // columns
  bool has_color = false;
};

// Lines of at most `width` columns without newlines; colour codes do not count as columns.
std::vector<std::string> view_of(const ProgressReport& progress, const ViewStyle& style);

// "step 100/2000  loss 0.3456  lr 1.0e-03  12.3k samples/s  2 % waiting  1:05 left"
std::string line_of(const ProgressReport& progress);

// "1:05", "2:00:59", "3 d 04:05"
std::string duration_text(double seconds);
// "0.1234", "4567.89", "1.234e+09": a short text for a number of any magnitude
std::string figure_text(double value);
// "950", "12.3k", "4.56M"
std::string number_text(double value);

}  // namespace trireme::monitor
